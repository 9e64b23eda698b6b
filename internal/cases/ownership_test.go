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

// Extend and Unlock of a lease whose name another holds by now touch nothing,
// neither in the client nor in the store.
func TestB017OnlyTheOwnerTouchesAHold(t *testing.T) {
	eachStore(t, func(w *world) {
		extend := func(l *holdfast.Lease) error { return l.Extend(context.Background(), w.s(60)) }
		for _, calls := range [][]func(*holdfast.Lease) error{
			{extend, (*holdfast.Lease).Unlock},
			{(*holdfast.Lease).Unlock, extend},
		} {
			a, b := w.client(), w.client()
			la := a.lock("k", w.fixed(4))
			old := w.hold("k", w.s(60))
			lb := b.lock("k", w.fixed(20))
			before := w.state("k")
			for _, call := range calls {
				if err := call(la); !errors.Is(err, holdfast.ErrLost) && !errors.Is(err, holdfast.ErrNotHeld) {
					w.Errorf("a call of the late holder says %v", err)
				}
			}
			if _, err := w.renew(old); !errors.Is(err, driver.ErrGone) {
				w.Errorf("the store renewed for the late holder: %v", err)
			}
			if r, err := w.eye.Release(context.Background(), old); err != nil || r.Freed {
				w.Errorf("the store released for the late holder: %+v, %v", r, err)
			}
			w.untouched("k", before)
			w.unlock(lb)
		}
	})
}

// An unlock that is sent again, since its reply was lost, does not touch the
// next hold of the same client.
func TestB019RepeatedUnlock(t *testing.T) {
	eachStore(t, func(w *world) {
		a := w.client()
		first := a.lock("k", w.ttl(30))
		a.net.Next(drivertest.Release, drivertest.Fault{LoseReply: true, Err: driver.ErrUnknown})
		w.is(first.Unlock(), holdfast.ErrUnavailable)
		second := a.lock("k", w.ttl(30))
		before := w.state("k")
		if err := first.Unlock(); err != nil && !errors.Is(err, holdfast.ErrUnknown) {
			w.Errorf("the repeated unlock says %v", err)
		}
		w.is(first.Unlock(), holdfast.ErrNotHeld)
		w.throughout(w.s(2), "the second hold stays", func() bool {
			return second.Check() == nil && w.owner("k") == before.owner
		})
		w.untouched("k", before)
		w.unlock(second)
	})
}

// A Mutex that goroutines share keeps no owner: each lease has its own.
func TestB021SharedMutex(t *testing.T) {
	eachStore(t, func(w *world) {
		c := w.client()
		shared := w.client().Mutex("k", w.fixed(4))
		g1, err := shared.Lock(context.Background())
		w.is(err, nil)
		g2, err := shared.Lock(context.Background()) // when the first has expired
		w.is(err, nil)
		w.is(g1.Unlock(), holdfast.ErrLost)
		c.refused("k")
		if g1.Token() == g2.Token() || g1.Fingerprint() == g2.Fingerprint() {
			w.Error("two acquisitions have the same identity")
		}
		w.unlock(g2)
	})
}

// reentrant is options to enter again.
var reentrant = &holdfast.MutexOptions{Reentrant: true}

// enter locks name again inside l.
func (c *client) enter(l *holdfast.Lease, name string, o *holdfast.MutexOptions) (*holdfast.Lease, error) {
	inner, err := c.Mutex(name, o).Lock(l.Context())
	return c.keep(inner), err
}

// A nested acquire never shortens the lease around it, nor does its unlock end
// it. An inner TTL of another length is refused.
func TestB023NestedAcquireShortensNothing(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		outer := a.lock("k", w.fixed(10))
		before := w.state("k")
		_, err := a.enter(outer, "k", &holdfast.MutexOptions{TTL: w.s(1), Reentrant: true})
		w.is(err, holdfast.ErrInvalid)
		inner, err := a.enter(outer, "k", reentrant)
		w.is(err, nil)
		w.is(inner.Extend(context.Background(), w.s(1)), nil)
		w.untouched("k", before)
		w.unlock(inner)
		w.pass(w.s(2))
		b.refused("k")
		w.untouched("k", before)
		w.unlock(outer)
	})
}

// Holds are counted: others are refused until the last unlock, whichever it is.
func TestB025ReentryCounts(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		outer := a.lock("k", w.ttl(10))
		_, err := a.enter(outer, "k", nil)
		w.is(err, holdfast.ErrDeadlock, holdfast.ErrHeld) // unless re-entry is asked for
		for _, outerFirst := range []bool{false, true} {
			inner, err := a.enter(outer, "k", reentrant)
			w.is(err, nil)
			first, last := inner, outer
			if outerFirst {
				first, last = outer, inner
			}
			w.unlock(first)
			w.is(first.Unlock(), holdfast.ErrNotHeld)
			w.is(last.Check(), nil)
			b.refused("k")
			w.unlock(last)
			w.unlock(b.lock("k", w.ttl(10)))
			outer = a.lock("k", w.ttl(10))
		}
	})
}

// A name that a client is given is for display: clients of the same label, and
// goroutines of one client, exclude each other.
func TestB027LabelsAreNoOwners(t *testing.T) {
	t.Parallel()
	each := func(w *world) {
		a, b := w.labelled("worker"), w.labelled("worker")
		l := a.lock("k", &holdfast.MutexOptions{TTL: w.s(30), Reentrant: true})
		for _, c := range []*client{a, b} {
			_, err := c.Mutex("k", reentrant).TryLock(context.Background())
			w.is(err, holdfast.ErrHeld)
			w.isnt(err, holdfast.ErrDeadlock)
		}
		w.unlock(l)
	}
	inMemory(t, each)
	inFolder(t, "sqlite", each)
	inFolder(t, "process", func(w *world) {
		a, b := w.process(), w.process()
		a.must("lock k %v", w.s(10))
		if got := b.ask("try k %v", w.s(10)); got != "held" {
			w.Errorf("a process of the same label was told %q", got)
		}
		if got := a.ask("try k %v", w.s(10)); got != "held" {
			w.Errorf("the holder's own process was told %q", got)
		}
	})
}

// A renewal asks whose the hold is, not whether there is one.
func TestB029RenewalAgainstAForeignHold(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		la := a.lock("k", w.ttl(10))
		old := w.hold("k", w.s(30))
		w.remove("k")
		b.lock("k", w.fixed(20))
		before := w.state("k")
		began := time.Now()
		at, cause := w.ended(la, w.s(10)/3)
		w.is(cause, holdfast.ErrLost)
		if at.Sub(began) > w.s(10)/3+w.slack {
			w.Errorf("the loss showed after %v", at.Sub(began))
		}
		if _, err := w.renew(old); !errors.Is(err, driver.ErrGone) {
			w.Errorf("the store renewed a foreign hold: %v", err)
		}
		w.untouched("k", before)
	})
}
