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

// late delays the requests of one method.
func late(m drivertest.Method, d time.Duration) func(drivertest.Call) drivertest.Fault {
	return func(c drivertest.Call) drivertest.Fault {
		if c.Method == m {
			return drivertest.Fault{Before: d}
		}
		return drivertest.Fault{}
	}
}

// A renewal that arrives after another has had and freed the name writes nothing.
func TestB001RenewalNeverRecreates(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		l := a.lock("k", w.ttl(8))
		a.net.Plan(late(drivertest.Renew, w.s(12)))
		w.unlock(b.lock("k", w.ttl(8)))
		w.is(l.Check(), holdfast.ErrLost)
		w.throughout(w.s(16), "the name stays free", func() bool { return !w.held("k") })
		w.is(context.Cause(l.Context()), holdfast.ErrLost)
		w.is(l.Unlock(), holdfast.ErrLost)
	})
	inFolder(t, "process", func(w *world) {
		a, b := w.process(), w.client()
		a.must("lock k %v", w.s(8))
		a.freeze()
		w.unlock(b.lock("k", w.ttl(8)))
		a.send("alive k")
		a.thaw()
		if got := a.answer(); got != "lost context canceled" {
			w.Errorf("the first look after the thaw says %q", got)
		}
		w.throughout(w.s(6), "the name stays free", func() bool { return !w.held("k") })
		if got := a.ask("check k"); got != "lost" {
			w.Errorf("check says %q", got)
		}
	})
}

// A waiter's validity begins with the attempt that got the lock.
func TestB003ValidityFromTheWinningAttempt(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		la := a.lock("k", w.ttl(20))
		p := b.queue(context.Background(), "k", w.within(8, 60))
		w.pass(w.s(20))
		w.unlock(la)
		lb := p.gets(w.s(1))
		if left, want := lb.Deadline().Sub(p.at), w.s(8)-w.s(8)/4; left < want {
			w.Errorf("%v of %v are left at the start", left, w.s(8))
		}
		w.throughout(w.s(9), "b holds and renews", func() bool { return lb.Check() == nil && w.held("k") })
		w.unlock(lb)
	})
}

// With all packets dropped the holder's own clock ends the lease, before anybody
// else gets in.
func TestB011LossWithoutNetwork(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		l := a.lock("k", w.ttl(15))
		p := b.queue(context.Background(), "k", w.within(15, 60))
		w.pass(w.s(12)) // some renewals
		a.net.Partition(nil)
		deadline := l.Deadline()
		at, cause := w.ended(l, w.s(15))
		w.is(cause, holdfast.ErrLost)
		if at.Sub(deadline) > w.slack/8 {
			w.Errorf("the loss showed %v after the deadline", at.Sub(deadline))
		}
		p.gets(w.s(3))
		if !at.Before(p.at) {
			w.Errorf("the loss showed %v after another got in", at.Sub(p.at))
		}
		if n := a.heard.count(holdfast.Lost); n != 1 {
			w.Errorf("%d loss events, want 1", n)
		}
	})
}

// No two acquisitions ever have the same owner id, nor the same token.
func TestB013OwnersNeverRepeat(t *testing.T) {
	t.Parallel()
	inMemory(t, func(w *world) {
		seen := newUnique(w)
		rounds := scaled(w, 5, 10_000)
		done := make(chan struct{})
		for range 64 {
			c := w.stranger()
			go func() {
				defer func() { done <- struct{}{} }()
				for range rounds {
					err := c.Do(context.Background(), "k", func(_ context.Context, l *holdfast.Lease) error {
						seen.add(l.Fingerprint(), l.Token())
						return nil
					})
					if err != nil {
						w.Error(err)
					}
				}
			}()
		}
		for range 64 {
			<-done
		}
	})
	inFolder(t, "process", func(w *world) {
		seen := newUnique(w)
		rounds := scaled(w, 10, 10_000)
		var all []*process
		for range scaled(w, 8, 64) {
			all = append(all, w.process())
		}
		for _, p := range all {
			p.send("churn k %d", rounds)
		}
		for _, p := range all {
			seen.addAll(p.answer(), rounds)
		}
	})
}

// Staleness is never judged by a clock or a liveness that the waiter guesses:
// what an operator removed is gone for its holder, and a renewal of it neither
// inserts nor takes the name from somebody whose own renewals are late.
func TestB009RenewIsNoUpsert(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		la := a.lock("k", w.ttl(10))
		old := w.hold("k", w.s(10))
		w.remove("k")
		if _, err := w.renew(old); !errors.Is(err, driver.ErrGone) {
			w.Errorf("renewal of a removed hold: %v", err)
		}
		if w.held("k") {
			w.Error("a renewal created the lock again")
		}
		b.lock("k", w.fixed(5)) // and never renews
		before := w.state("k")
		if _, err := w.renew(old); !errors.Is(err, driver.ErrGone) {
			w.Errorf("renewal against another holder: %v", err)
		}
		w.untouched("k", before)
		_, cause := w.ended(la, w.s(10)/3)
		w.is(cause, holdfast.ErrLost)
		w.untouched("k", before)
	})
}

// renew sends one renewal past every client.
func (w *world) renew(h driver.Hold) (v driver.Validity, err error) {
	w.eye.Renew(context.Background(), []driver.Hold{h}, func(_ int, got driver.Validity, e error) { v, err = got, e })
	return v, err
}
