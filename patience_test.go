package holdfast_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// Wait bounds the wait for another holder. Its end is told from that of the
// caller's context.
func TestWait(t *testing.T) {
	inBubble(t, func(w *world) {
		a, b := w.open(nil), w.open(nil)
		l := w.lock(a, "k", &holdfast.MutexOptions{TTL: time.Hour})
		m := b.Mutex("k", &holdfast.MutexOptions{Wait: 5 * time.Second})
		start := time.Now()
		_, err := m.Lock(w.Context())
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("Lock took %v, want 5s", took)
		}
		w.is(err, holdfast.ErrHeld, context.DeadlineExceeded)
		var held *holdfast.HeldError
		if !errors.As(err, &held) || held.Waited != 5*time.Second || held.Owner != a.ID()[:8] ||
			!held.Until.Equal(start.Add(time.Hour)) || held.Kind != "mutex" || held.Name != "k" {
			t.Errorf("%+v", held)
		}
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		start = time.Now()
		_, err = m.Lock(ctx)
		w.is(err, holdfast.ErrHeld, context.DeadlineExceeded)
		if took := time.Since(start); took != time.Second {
			t.Errorf("Lock took %v, want the context's 1s", took)
		}
		ctx, stop := context.WithCancel(w.Context())
		time.AfterFunc(time.Second, stop)
		_, err = m.Lock(ctx)
		w.is(err, holdfast.ErrHeld, context.Canceled)
		if errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v: nothing timed out", err)
		}
		w.unlock(l)
		l = w.lock(b, "k", &holdfast.MutexOptions{Wait: time.Second})
		time.Sleep(time.Hour) // Wait is over; the lease is not
		w.unlock(l)
	})
}

// Before the store's first answer ever, Lock fails at once; a silent store costs
// it one request.
func TestFirstContact(t *testing.T) {
	for name, c := range map[string]struct {
		cut  error
		took time.Duration
	}{
		"refused": {driver.ErrUnavailable, 0},
		"broken":  {driver.ErrUnknown, 0},
		"silent":  {nil, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				a := w.open(nil)
				a.net.Partition(c.cut)
				start := time.Now()
				_, err := a.Mutex("k", &holdfast.MutexOptions{Patience: -1}).Lock(w.Context())
				w.is(err, holdfast.ErrUnavailable)
				if took := time.Since(start); took != c.took {
					t.Errorf("Lock took %v, want %v", took, c.took)
				}
				if errors.Is(err, holdfast.ErrUnknown) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, holdfast.ErrHeld) {
					t.Errorf("%v: matches what it is not", err)
				}
				a.net.Heal()
				w.unlock(w.lock(a, "k", nil))
			})
		})
	}
}

// Any answer is contact: an inspection, or that another has the lock.
func TestContact(t *testing.T) {
	for name, contact := range map[string]func(w *world, c *client){
		"grant":   func(w *world, c *client) { w.contact(c) },
		"inspect": func(w *world, c *client) { c.Holder(w.Context(), "free") },
		"busy": func(w *world, c *client) {
			c.Mutex("taken", nil).TryLock(w.Context())
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				a, b := w.open(nil), w.open(nil)
				l := w.lock(b, "taken", nil)
				contact(w, a)
				a.net.Partition(driver.ErrUnavailable)
				start := time.Now()
				_, err := a.Mutex("k", &holdfast.MutexOptions{TTL: ttl}).Lock(w.Context())
				w.is(err, holdfast.ErrUnavailable)
				if took := time.Since(start); took != ttl {
					t.Errorf("Lock took %v, want one TTL: %v", took, ttl)
				}
				a.net.Heal()
				w.unlock(l)
			})
		})
	}
}

// Lock bears with a silent store exactly as long as its patience: from the first
// request without an answer, or its own start.
func TestPatience(t *testing.T) {
	for name, c := range map[string]struct {
		opts holdfast.MutexOptions
		took time.Duration
	}{
		"default":            {holdfast.MutexOptions{}, 30 * time.Second},
		"one TTL":            {holdfast.MutexOptions{TTL: time.Minute}, time.Minute},
		"AtLeast":            {holdfast.MutexOptions{TTL: time.Second, AtLeast: time.Minute}, time.Minute},
		"given":              {holdfast.MutexOptions{Patience: 7 * time.Second}, 7 * time.Second},
		"less than a second": {holdfast.MutexOptions{Patience: 10 * time.Millisecond}, 10 * time.Millisecond},
	} {
		for _, cut := range []error{nil, driver.ErrUnavailable, driver.ErrUnknown} {
			t.Run(name, func(t *testing.T) {
				inBubble(t, func(w *world) {
					a := w.open(nil)
					w.contact(a)
					a.net.Partition(cut)
					start := time.Now()
					_, err := a.Mutex("k", &c.opts).Lock(w.Context())
					w.is(err, holdfast.ErrUnavailable)
					if took := time.Since(start); took != c.took {
						t.Errorf("Lock took %v, want %v", took, c.took)
					}
					if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, holdfast.ErrHeld) {
						t.Errorf("%v: matches what it is not", err)
					}
					a.net.Heal()
				})
			})
		}
	}
}

// A store that fell silent while another held the lock is not a held lock.
func TestPatienceBehindHolder(t *testing.T) {
	for _, cut := range []error{nil, driver.ErrUnavailable} {
		inBubble(t, func(w *world) {
			a, b := w.open(nil), w.open(nil)
			w.contact(a)
			w.lock(b, "k", &holdfast.MutexOptions{TTL: 10 * time.Second, NoRenew: true})
			start := time.Now()
			time.AfterFunc(5*time.Second, func() { a.net.Partition(cut) })
			_, err := a.Mutex("k", &holdfast.MutexOptions{Patience: 2 * time.Second}).Lock(w.Context())
			w.is(err, holdfast.ErrUnavailable)
			if errors.Is(err, holdfast.ErrHeld) {
				t.Errorf("%v: the store says nothing, not that it is held", err)
			}
			// Until the expiry that it was told, silence is as it should be.
			if took := time.Since(start); took != 12*time.Second {
				t.Errorf("Lock took %v, want 12s", took)
			}
			a.net.Heal()
		})
	}
}

// Patience −1 lasts as long as the context, and tells then what the store said.
func TestPatienceForEver(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		w.contact(a)
		a.net.Partition(driver.ErrUnavailable)
		ctx, cancel := context.WithTimeout(w.Context(), time.Hour)
		defer cancel()
		start := time.Now()
		_, err := a.Mutex("k", &holdfast.MutexOptions{Patience: -1}).Lock(ctx)
		w.is(err, context.DeadlineExceeded, holdfast.ErrUnavailable)
		if took := time.Since(start); took != time.Hour {
			t.Errorf("Lock took %v, want 1h", took)
		}
		tries := a.calls(drivertest.Try)
		if n := len(tries); n < 60*60/2 || n > 3*60*60 {
			t.Errorf("%d attempts in an hour, want about one a second", n)
		}
		time.AfterFunc(10*time.Minute, a.net.Heal)
		start = time.Now()
		l, err := a.Mutex("k", &holdfast.MutexOptions{Patience: -1}).Lock(w.Context())
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start) - 10*time.Minute; took < 0 || took > 2*time.Second {
			t.Errorf("entered %v after the store came back", took)
		}
		w.unlock(l)
	})
}

// Waiting for a goroutine of the same client is not silence of the store, however
// the lock was taken.
func TestPatienceBehindLocalHolder(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		w.contact(a)
		a.net.Partition(driver.ErrUnavailable)
		opts := &holdfast.MutexOptions{Patience: 5 * time.Second}
		entered := make(chan error)
		go func() {
			l, err := a.Mutex("k", opts).Lock(w.Context())
			if err == nil {
				err = l.Unlock()
			}
			entered <- err
		}()
		synctest.Wait()
		a.net.Heal()
		l, err := a.Mutex("k", nil).TryLock(w.Context()) // before the next attempt of Lock
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		w.unlock(l)
		if err := <-entered; err != nil {
			t.Error(err)
		}
	})
}

// What a store says for good ends the wait of everybody; what may pass does not.
func TestStoreRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		final bool
	}{
		"kind":      {driver.ErrKind, true},
		"corrupt":   {driver.ErrCorrupt, true},
		"refused":   {driver.ErrRefused, true},
		"temporary": {errors.Join(driver.ErrRefused, driver.ErrTemporary), false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				a := w.open(nil)
				w.contact(a)
				a.net.Next(drivertest.Try, drivertest.Fault{LoseRequest: true, Err: c.err})
				start := time.Now()
				l, err := a.Mutex("k", nil).Lock(w.Context())
				if c.final {
					w.is(err, c.err)
					if took := time.Since(start); took > 0 {
						t.Errorf("Lock took %v", took)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				w.unlock(l)
				a.net.Partition(c.err)
				_, err = a.Mutex("k", &holdfast.MutexOptions{Patience: time.Second}).Lock(w.Context())
				w.is(err, holdfast.ErrRefused) // not unreachable: it answers
				if took := time.Since(start); took < time.Second {
					t.Errorf("Lock gave up after %v", took)
				}
				a.net.Heal()
			})
		})
	}
}

// asked counts how often somebody waits for it.
type asked struct {
	context.Context
	times int
}

func (c *asked) Done() <-chan struct{} {
	c.times++
	return c.Context.Done()
}

// Little patience with a silent store costs nothing while the store answers.
func TestLittlePatienceSleeps(t *testing.T) {
	inBubble(t, func(w *world) {
		a, b := w.open(nil), w.open(nil)
		l := w.lock(a, "k", nil)
		ctx, cancel := context.WithTimeout(w.Context(), 10*time.Second)
		defer cancel()
		counted := &asked{Context: ctx}
		_, err := b.Mutex("k", &holdfast.MutexOptions{Patience: 10 * time.Microsecond}).Lock(counted)
		w.is(err, holdfast.ErrHeld, context.DeadlineExceeded)
		if counted.times > 1000 {
			t.Errorf("looked %d times in 10 s", counted.times)
		}
		w.unlock(l)
	})
}

// What the store said to those who have left is not told to those who come.
func TestOldErrorIsForgotten(t *testing.T) {
	inBubble(t, func(w *world) {
		a, b := w.open(nil), w.open(nil)
		l := w.lock(a, "k", nil)
		next := make(chan *holdfast.Lease)
		go func() { next <- w.lock(b, "k", nil) }()
		synctest.Wait()
		w.unlock(l) // a remembers the name, since others want it
		w.unlock(<-next)
		lock := func() error {
			ctx, cancel := context.WithTimeout(w.Context(), time.Second)
			defer cancel()
			_, err := a.Mutex("k", nil).Lock(ctx)
			return err
		}
		a.net.Partition(driver.ErrUnavailable)
		w.is(lock(), holdfast.ErrUnavailable, context.DeadlineExceeded)
		synctest.Wait() // until nobody asks any more
		a.net.Partition(nil)
		if err := lock(); errors.Is(err, holdfast.ErrUnavailable) {
			t.Errorf("%v, though the store has said nothing", err)
		}
		a.net.Heal()
	})
}
