package holdfast_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// closing calls Close in the background.
func closing(c *client, ctx context.Context) <-chan error {
	done := make(chan error, 1)
	go func() { done <- c.Close(ctx) }()
	synctest.Wait()
	return done
}

func notYet(t *testing.T, done <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-done:
		t.Errorf("Close returned too early: %v", err)
	default:
	}
}

// Close ends leases but not holds. It waits for their Unlocks.
func TestCloseWithHolds(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		one, two := w.lock(a, "one", nil), w.lock(a, "two", nil)
		done := closing(a, w.Context())
		for _, l := range []*holdfast.Lease{one, two} {
			w.is(l.Context().Err(), context.Canceled)
			w.is(context.Cause(l.Context()), holdfast.ErrClosed)
			w.is(l.Check(), holdfast.ErrClosed)
			w.is(l.Extend(w.Context(), time.Hour), holdfast.ErrClosed)
			if w.free(l.Name()) {
				t.Errorf("%q is free: its holder had no time to stop", l.Name())
			}
		}
		w.unlock(one)
		if !w.free("one") {
			t.Error("not free after Unlock")
		}
		notYet(t, done)
		w.unlock(two)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if n := len(a.calls(drivertest.Renew)); n > 0 {
			t.Errorf("%d renewals of leases that had ended", n)
		}
		w.is(one.Unlock(), holdfast.ErrNotHeld)
	})
}

// Close waits for nobody longer than to his deadline.
func TestCloseWithForgottenHold(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		start := time.Now()
		l := w.lock(a, "k", nine)
		w.sleepTo(start, third) // renewed once
		if err := a.Close(w.Context()); err != nil {
			t.Error(err)
		}
		if got := time.Since(start); got != third+lasts {
			t.Errorf("Close returned after %v, want the last deadline: %v", got, third+lasts)
		}
		if w.free("k") {
			t.Error("Close released a lock that may be worked under")
		}
		w.sleepTo(start, third+ttl)
		if !w.free("k") {
			t.Error("not free after the TTL")
		}
		w.is(l.Unlock(), holdfast.ErrLost)
	})
}

// Close waits no longer than its context.
func TestCloseContext(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		l := w.lock(a, "k", nil)
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		start := time.Now()
		err := a.Close(ctx)
		w.is(err, context.DeadlineExceeded)
		if took := time.Since(start); took != time.Second {
			t.Errorf("Close took %v, want 1s", took)
		}
		w.is(l.Check(), holdfast.ErrClosed)
		start = time.Now()
		w.is(l.Unlock(), holdfast.ErrClosed) // nobody is left to send it
		if took := time.Since(start); took > 0 {
			t.Errorf("Unlock took %v", took)
		}

		b := w.open(nil)
		w.lock(b, "other", nil)
		dead, cancel := context.WithTimeout(w.Context(), 0)
		defer cancel()
		w.is(b.Close(dead), context.DeadlineExceeded)
		w.is(b.Mutex("k", nil).Do(w.Context(), nothing), holdfast.ErrClosed)

		c := w.open(nil) // nothing to wait for
		if err := c.Close(dead); err != nil {
			t.Errorf("Close of an idle client: %v", err)
		}
	})
}

// Goroutines that wait get ErrClosed at once, in the queue and in the store.
func TestCloseWithWaiters(t *testing.T) {
	inBubble(t, func(w *world) {
		a, b := w.open(nil), w.open(nil)
		l := w.lock(a, "k", &holdfast.MutexOptions{TTL: time.Hour})
		w.contact(b)
		errs := make(chan error)
		for range 10 {
			go func() {
				_, err := b.Mutex("k", nil).Lock(w.Context())
				errs <- err
			}()
		}
		synctest.Wait()
		start := time.Now()
		if err := b.Close(w.Context()); err != nil {
			t.Error(err)
		}
		for range 10 {
			err := <-errs
			w.is(err, holdfast.ErrClosed)
			if errors.Is(err, holdfast.ErrHeld) || errors.Is(err, context.Canceled) {
				t.Errorf("%v: matches what it is not", err)
			}
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("Close took %v", took)
		}
		w.unlock(l)
		if !w.free("k") {
			t.Error("a waiter that left has the lock")
		}
	})
}

// Closing again, one after the other or at once, waits for the first Close.
func TestCloseAgain(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		l := w.lock(a, "k", nil)
		first, second := closing(a, w.Context()), closing(a, w.Context())
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		w.is(a.Close(ctx), context.DeadlineExceeded)
		notYet(t, first)
		notYet(t, second)
		w.unlock(l)
		for _, done := range []<-chan error{first, second, closing(a, w.Context())} {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

// After Close nothing starts, and everybody is told why.
func TestClosed(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		w.contact(a)
		if err := a.Close(w.Context()); err != nil {
			t.Error(err)
		}
		a.net.Forget()
		m := a.Mutex("k", nil)
		_, err := m.Lock(w.Context())
		w.is(err, holdfast.ErrClosed)
		_, err = m.TryLock(w.Context())
		w.is(err, holdfast.ErrClosed)
		w.is(m.Do(w.Context(), nothing), holdfast.ErrClosed)
		w.is(m.TryDo(w.Context(), nothing), holdfast.ErrClosed)
		_, err = a.Holder(w.Context(), "k")
		w.is(err, holdfast.ErrClosed)
		if n := len(a.calls(drivertest.Try)); n > 0 {
			t.Errorf("%d attempts of a closed client", n)
		}
	})
}

// What an attempt is granted while the client closes is given back.
func TestCloseWithAttempts(t *testing.T) {
	for name, fault := range map[string]drivertest.Fault{
		"slow request": {Before: time.Second},
		"slow reply":   {After: time.Second},
		"lost reply":   {LoseReply: true},
		"lost request": {LoseRequest: true},
		"copies":       {LoseReply: true, Again: []time.Duration{time.Second, 2 * time.Second}},
	} {
		for _, try := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				inBubble(t, func(w *world) {
					a := w.open(nil)
					w.contact(a)
					a.net.Next(drivertest.Try, fault)
					errs := make(chan error, 1)
					go func() {
						m := a.Mutex("k", nil)
						lock := m.Lock
						if try {
							lock = m.TryLock
						}
						_, err := lock(w.Context())
						errs <- err
					}()
					time.Sleep(100 * time.Millisecond)
					start := time.Now()
					if err := a.Close(w.Context()); err != nil {
						t.Error(err)
					}
					if took := time.Since(start); took > 4*time.Second {
						t.Errorf("Close took %v, want at most one request and a release", took)
					}
					if err := <-errs; err == nil {
						t.Error("Lock of a closing client returned a lease")
					}
					if n := a.Holds() + a.GiveBacks() + a.Queues(); n > 0 {
						t.Errorf("left: %d holds, %d give-backs, %d queues", a.Holds(), a.GiveBacks(), a.Queues())
					}
					if !w.free("k") {
						t.Error("the attempt left a hold behind")
					}
				})
			})
		}
	}
}

// A dead store delays Close only as long as there is something to give back to
// it, and never beyond its context.
func TestCloseUnreachable(t *testing.T) {
	for _, cut := range []error{nil, driver.ErrUnavailable} {
		inBubble(t, func(w *world) {
			a := w.open(nil)
			l := w.lock(a, "k", nine)
			w.contact(a)
			a.net.Partition(cut)
			w.is(l.Unlock(), holdfast.ErrUnavailable)
			start := time.Now()
			err := a.Close(w.Context())
			if took := time.Since(start); took > 2*third {
				t.Errorf("Close took %v (%v), want a request or two", took, err)
			}
			if err != nil {
				t.Errorf("Close: %v", err)
			}
		})
		inBubble(t, func(w *world) {
			a := w.open(nil)
			l := w.lock(a, "k", nine)
			a.net.Partition(cut)
			w.is(l.Unlock(), holdfast.ErrUnavailable)
			ctx, cancel := context.WithTimeout(w.Context(), time.Nanosecond)
			defer cancel()
			start := time.Now()
			a.Close(ctx)
			if took := time.Since(start); took > time.Nanosecond {
				t.Errorf("Close took %v with a dead context", took)
			}
		})
	}
}

// stopping is a context that stops its user when first asked for a value.
type stopping struct {
	context.Context
	once sync.Once
	at   chan struct{}
	goOn chan struct{}
}

func (c *stopping) Value(key any) any {
	c.once.Do(func() {
		close(c.at)
		<-c.goOn
	})
	return c.Context.Value(key)
}

// A call that began before Close, and was stopped for a while, takes nothing that
// Close would not give back.
func TestCloseOvertakesLock(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		first := w.lock(a, "first", nil)
		ctx := &stopping{Context: w.Context(), at: make(chan struct{}), goOn: make(chan struct{})}
		refused := make(chan error)
		go func() {
			_, err := a.Mutex("k", nil).TryLock(ctx)
			refused <- err
		}()
		<-ctx.at
		closed := closing(a, w.Context())
		synctest.Wait()
		a.net.Next(drivertest.Try, drivertest.Fault{After: time.Second})
		close(ctx.goOn)
		synctest.Wait()
		w.unlock(first)
		if err := <-closed; err != nil {
			t.Error(err)
		}
		w.is(<-refused, holdfast.ErrClosed)
		if !w.free("k") {
			t.Error("a hold is left")
		}
	})
}

// Close gives back what nobody waited for even if the store fails meanwhile.
func TestCloseTriesAgain(t *testing.T) {
	inBubble(t, func(w *world) {
		net := drivertest.NewFaulty(w.srv.Store())
		c, err := holdfast.New(net, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Holder(w.Context(), "k"); !errors.Is(err, holdfast.ErrNotHeld) {
			t.Fatal(err)
		}
		net.Next(drivertest.Try, drivertest.Fault{LoseReply: true, Err: driver.ErrUnknown})
		if _, err := c.Mutex("k", nil).TryLock(w.Context()); !errors.Is(err, holdfast.ErrUnavailable) {
			t.Fatal(err)
		}
		up := time.Now().Add(5 * time.Second) // a while after NotAfter
		net.Plan(func(drivertest.Call) drivertest.Fault {
			if time.Now().Before(up) {
				return drivertest.Fault{LoseRequest: true, Err: driver.ErrUnavailable}
			}
			return drivertest.Fault{}
		})
		if err := c.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if !w.free("k") {
			t.Error("Close left the name taken, though the store was up again")
		}
	})
}
