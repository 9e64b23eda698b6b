//go:build unix

package cases_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// Unlock works although the context that locked has ended, by Do as by hand.
func TestB071UnlockOnADeadContext(t *testing.T) {
	eachStore(t, unlockOnDeadContext)
}

// The same on a store with a pool of connections: none is left in a state that
// keeps the lock.
func TestB085DeadContextLeavesNoLock(t *testing.T) {
	eachStore(t, func(w *world) {
		for range 5 {
			unlockOnDeadContext(w)
		}
	})
}

func unlockOnDeadContext(w *world) {
	a, b := w.client(), w.client()
	c1, cancel := context.WithCancel(context.Background())
	l, err := a.Mutex("k", w.ttl(60)).Lock(c1)
	w.is(err, nil)
	cancel()
	w.is(l.Check(), nil) // the lease does not end with the wait for it
	w.unlock(l)
	w.unlock(b.begin(context.Background(), "k", w.within(60, 1)).gets(w.s(1)))

	c2, cancel := context.WithCancel(context.Background())
	err = a.Mutex("k", w.ttl(60)).Do(c2, func(ctx context.Context, _ *holdfast.Lease) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	w.is(err, context.Canceled)
	w.unlock(b.begin(context.Background(), "k", w.within(60, 1)).gets(w.s(1)))
	w.unlock(a.begin(context.Background(), "k", w.within(60, 1)).gets(w.s(1)))
}

// An unlock that is under way when its caller's context ends, or whose reply is
// lost, can be called again and forgets nothing before it is confirmed.
func TestB075CancelledUnlock(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		c1, cancel := context.WithCancel(context.Background())
		l, err := a.Mutex("k", w.ttl(60)).Lock(c1)
		w.is(err, nil)
		a.net.Next(drivertest.Release, drivertest.Fault{Before: w.s(1), After: w.s(1)})
		unlocked := make(chan error, 1)
		go func() { unlocked <- l.Unlock() }()
		w.soon(w.s(1), "the release is on its way", func() bool { return len(a.net.Calls(drivertest.Release)) > 0 })
		cancel()
		w.is(<-unlocked, nil)
		if w.held("k") {
			w.Error("a confirmed unlock left the lock")
		}

		l = b.lock("k", w.ttl(8))
		b.net.Next(drivertest.Release, drivertest.Fault{LoseRequest: true})
		w.is(l.Unlock(), holdfast.ErrUnavailable)
		w.is(l.Unlock(), nil)
		if w.held("k") {
			w.Error("the second unlock left the lock")
		}
	})
}

// What a cancelled acquire is granted later is given back, also when its request
// was held up longer than the call lived.
func TestB077LateAcquireAfterCancel(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		a.net.Next(drivertest.Try, drivertest.Fault{Before: w.s(1)})
		c1, cancel := context.WithCancel(context.Background())
		p := a.begin(c1, "k", w.ttl(30))
		w.soon(w.s(1), "the request is on its way", func() bool { return len(a.net.Calls(drivertest.Try)) > 0 })
		cancel()
		start := time.Now()
		_, err := p.end(w.s(0.5))
		w.is(err, context.Canceled)
		if took := time.Since(start); took > 50*time.Millisecond+w.slack/8 {
			w.Errorf("the cancelled call returned after %v", took)
		}
		w.soon(w.s(2), "the request was granted and given back", func() bool {
			return len(a.net.Calls(drivertest.Release)) > 0 && !w.held("k")
		})
		w.unlock(b.begin(context.Background(), "k", w.within(30, 1)).gets(w.s(1)))
		if a.heard.count(holdfast.GivenBack) == 0 {
			w.Error("nothing was given back: this case shows nothing")
		}
	})
	t.Run("after the clean-up", func(t *testing.T) { // where requests can be that late
		inMemory(t, func(w *world) {
			a, b := w.client(), w.client()
			a.net.Next(drivertest.Try, drivertest.Fault{LoseReply: true, Again: []time.Duration{w.s(20)}})
			c1, cancel := context.WithTimeout(context.Background(), w.s(1))
			defer cancel()
			_, err := a.Mutex("k", w.ttl(30)).Lock(c1)
			w.is(err, context.DeadlineExceeded)
			w.unlock(b.begin(context.Background(), "k", w.within(30, 5)).gets(w.s(5)))
			w.throughout(w.s(30), "the late copy takes nothing", func() bool { return !w.held("k") })
		})
	})
}

// There is no way to get neither an error nor a lock.
func TestB079CancelIsAnError(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		a.lock("k", w.ttl(30))
		c1, cancel := context.WithCancel(context.Background())
		p := b.queue(c1, "k", nil)
		cancel()
		l, err := p.end(w.s(1))
		w.is(err, context.Canceled, holdfast.ErrHeld)
		w.isnt(err, holdfast.ErrLost)
		w.is(l.Unlock(), holdfast.ErrNotHeld)
		ran := false
		err = b.Mutex("k", nil).Do(c1, func(context.Context, *holdfast.Lease) error { ran = true; return nil })
		w.is(err, context.Canceled)
		if l != nil || ran {
			w.Errorf("lease %v, body ran: %v", l, ran)
		}
	})
}

// A waiter that is cancelled leaves no entry, even where the store cannot be
// reached for the clean-up.
func TestB081CancelledWaiterLeavesNothing(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b, c := w.client(), w.client(), w.client()
		la := a.lock("k", w.ttl(30))
		c1, cancel := context.WithCancel(context.Background())
		p := b.queue(c1, "k", w.ttl(30))
		b.net.Partition(driver.ErrUnavailable)
		cancel()
		_, err := p.end(w.s(1))
		w.is(err, context.Canceled)
		w.soon(w.s(1), "nobody waits", func() bool { return w.holding("k").Waiters == 0 })
		w.unlock(la)
		w.unlock(c.begin(context.Background(), "k", w.within(30, 5)).gets(w.s(1)))
	})
}

// A wait that timed out leaves no entry either: not for others, not for the same
// client.
func TestB083TimedOutWaiterLeavesNothing(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b, c := w.client(), w.client(), w.client()
		la := a.lock("k", w.ttl(30))
		_, err := b.Mutex("k", w.upTo(30, 1)).Lock(context.Background())
		w.is(err, holdfast.ErrHeld, context.DeadlineExceeded)
		var held *holdfast.HeldError
		if !errors.As(err, &held) || held.Owner == "" || held.Waited < w.s(1) {
			w.Errorf("the error does not say who holds it and how long it waited: %+v", held)
		}
		w.soon(w.s(1), "nobody waits", func() bool { return w.holding("k").Waiters == 0 })
		w.unlock(la)
		w.unlock(c.begin(context.Background(), "k", w.within(30, 2)).gets(w.s(1)))
		w.unlock(b.begin(context.Background(), "k", w.within(30, 2)).gets(w.s(1)))
	})
}
