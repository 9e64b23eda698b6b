package holdfast_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// A thousand goroutines that wait for one name cost the store what one costs,
// and each leaves at once when its context ends.
func TestThousandWaitersCostOne(t *testing.T) {
	inBubble(t, func(w *world) {
		holder, a := w.open(nil), w.open(nil)
		l := w.lock(holder, "k", &holdfast.MutexOptions{TTL: time.Hour})
		ctx, cancel := context.WithCancel(w.Context())
		results := make(chan error, 1000)
		for range 1000 {
			go func() {
				_, err := a.Mutex("k", nil).Lock(ctx)
				results <- err
			}()
		}
		synctest.Wait()
		time.Sleep(30 * time.Minute)
		if n := len(a.calls(drivertest.Try)); n > 2 {
			w.Errorf("1,000 waiters sent %d attempts in half an hour, want one or two", n)
		}
		h, err := a.Holder(w.Context(), "k")
		if err != nil || h.Waiters != 1 {
			w.Errorf("the store sees %d waiting clients (%v), want 1", h.Waiters, err)
		}
		cancel()
		for range 1000 {
			w.is(<-results, context.Canceled, holdfast.ErrHeld)
		}
		w.unlock(l)
	})
}

// Goroutines of one client enter in the order in which they came, and none is
// forgotten when others leave.
func TestLocalOrder(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		l := w.lock(a, "k", nil)
		var order []int
		done := make(chan bool)
		for i := range 20 {
			ctx, cancel := context.WithCancel(w.Context())
			defer cancel()
			go func() {
				defer func() { done <- true }()
				l, err := a.Mutex("k", nil).Lock(ctx)
				if i%3 == 0 {
					w.is(err, context.Canceled)
					return
				}
				if err != nil {
					w.Error(err)
					return
				}
				order = append(order, i)
				time.Sleep(time.Second)
				w.unlock(l)
			}()
			synctest.Wait() // all wait in line before the next comes
			if i%3 == 0 {
				defer cancel()
				time.AfterFunc(time.Second, cancel)
			}
		}
		time.Sleep(2 * time.Second)
		w.unlock(l)
		for range 20 {
			<-done
		}
		if !slices.IsSorted(order) || len(order) != 13 {
			t.Errorf("entered in the order %v, want the 13 that stayed in order", order)
		}
		// Nothing was asked of the store that could not succeed.
		for _, c := range a.net.Calls() {
			if c.Method == drivertest.Wait {
				t.Error("waited in the store for a name that this client holds")
			}
		}
	})
}

// A grant whose asker has left goes to the next who asked for the same, without
// another request; to one who asked for something else it does not.
func TestGrantOutlivesItsAsker(t *testing.T) {
	for _, test := range []struct {
		name     string
		second   *holdfast.MutexOptions
		attempts int
	}{
		{"equal request", &holdfast.MutexOptions{TTL: 30 * time.Second}, 1},
		{"other TTL", &holdfast.MutexOptions{TTL: 10 * time.Second}, 2},
		{"no renewal", &holdfast.MutexOptions{NoRenew: true}, 2},
		{"AtLeast", &holdfast.MutexOptions{AtLeast: time.Second}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				a := w.open(nil)
				a.net.Next(drivertest.Try, drivertest.Fault{Before: time.Second})
				ctx, cancel := context.WithTimeout(w.Context(), 500*time.Millisecond)
				defer cancel()
				go a.Mutex("k", nil).Lock(ctx)
				synctest.Wait()
				l := w.lock(a, "k", test.second)
				time.Sleep(5 * time.Second)
				got := map[string]bool{}
				for _, c := range a.calls(drivertest.Try) {
					got[c.Owner] = true
				}
				if len(got) != test.attempts {
					t.Errorf("%d acquisitions, want %d", len(got), test.attempts)
				}
				w.unlock(l)
			})
		})
	}
}

// TryLock asks the store once, past the local queue.
func TestTryLockSkipsTheQueue(t *testing.T) {
	inBubble(t, func(w *world) {
		a, b := w.open(nil), w.open(nil)
		l := w.lock(b, "k", nil)
		waiting := make(chan *holdfast.Lease)
		go func() { waiting <- w.lock(a, "k", nil) }()
		synctest.Wait()
		a.net.Forget()
		_, err := a.Mutex("k", nil).TryLock(w.Context())
		var held *holdfast.HeldError
		if !errors.As(err, &held) || held.Owner != b.ID()[:8] {
			t.Errorf("TryLock: %v, want held by %s", err, b.ID()[:8])
		}
		if n := len(a.calls(drivertest.Try)); n != 1 {
			t.Errorf("TryLock sent %d attempts, want 1", n)
		}
		w.unlock(l)
		w.unlock(<-waiting)
	})
}

func TestMaxWaiters(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		l := w.lock(a, "k", nil)
		m := a.Mutex("k", &holdfast.MutexOptions{MaxWaiters: 2})
		results := make(chan error, 2)
		for range 2 {
			go func() {
				l, err := m.Lock(w.Context())
				if err == nil {
					err = l.Unlock()
				}
				results <- err
			}()
		}
		synctest.Wait()
		_, err := m.Lock(w.Context())
		w.is(err, holdfast.ErrTooManyWaiters, holdfast.ErrHeld)
		w.unlock(l)
		for range 2 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
	})
}

// A client that locks and unlocks without a pause lets waiters of other clients
// in: after 200 ms of unbroken tenure it stands back for 50 ms.
func TestStandBack(t *testing.T) {
	inBubble(t, func(w *world) {
		greedy, other := w.open(nil), w.open(nil)
		other.net.Plan(func(c drivertest.Call) drivertest.Fault {
			if c.Method == drivertest.Try { // farther away: it loses every race
				return drivertest.Fault{Before: 5 * time.Millisecond}
			}
			return drivertest.Fault{}
		})
		ctx, cancel := context.WithTimeout(w.Context(), 10*time.Second)
		defer cancel()
		entered := map[*client]int{}
		finished := make(chan bool)
		work := func(c *client) {
			defer func() { finished <- true }()
			for {
				l, err := c.Mutex("k", nil).Lock(ctx)
				if err != nil {
					return
				}
				entered[c]++
				time.Sleep(10 * time.Millisecond)
				w.unlock(l)
			}
		}
		for range 8 { // the local queue is never empty
			go work(greedy)
		}
		go work(other)
		for range 9 {
			<-finished
		}
		if entered[other] < 20 {
			t.Errorf("the other client entered %d times in 10 s beside %d, want its turn every 250 ms", entered[other], entered[greedy])
		}
		if len(greedy.events.of(holdfast.StoodBack)) == 0 {
			t.Error("no event says that the client stood back")
		}
	})
}

// Alone, a client never stands back.
func TestNoStandBackAlone(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		start := time.Now()
		for range 100 {
			l := w.lock(a, "k", nil)
			time.Sleep(10 * time.Millisecond)
			w.unlock(l)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("100 rounds of 10 ms took %v", took)
		}
		if n := a.Queues(); n != 0 {
			t.Errorf("%d local queues are left", n)
		}
	})
}
