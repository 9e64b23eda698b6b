//go:build unix

package cases_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// Renewals that fail are tried again until the deadline, at a short interval.
func TestB053RenewalOutlivesAnOutage(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		l := a.lock("k", w.ttl(30))
		w.pass(w.s(8))
		a.net.Partition(driver.ErrUnavailable)
		w.pass(w.s(5)) // across the renewal at 10
		a.net.Heal()
		if a.heard.count(holdfast.RenewalFailed) == 0 {
			w.Error("no renewal fell into the outage: this case shows nothing")
		}
		w.soon(w.s(2), "the renewal is made up for", func() bool { return w.holding("k").Left > w.s(25) })
		w.throughout(w.s(30), "a holds", func() bool { return l.Check() == nil })
		b.refused("k")
		w.unlock(l)
	})
}

// A hold that follows a lost one of the same name is renewed like any other.
func TestB055RenewedAgainAfterALoss(t *testing.T) {
	eachStore(t, func(w *world) {
		a, c := w.client(), w.client()
		first := a.lock("k", w.ttl(8))
		w.remove("k")
		_, cause := w.ended(first, w.s(8)/3)
		w.is(cause, holdfast.ErrLost)
		second := a.lock("k", w.ttl(8))
		w.throughout(w.s(20), "the second hold stays", func() bool {
			c.refused("k")
			return second.Check() == nil
		})
		w.is(first.Unlock(), holdfast.ErrLost)
		w.unlock(second)
	})
}

// After Unlock returned no renewal of that hold is sent, however answers and
// calls overlap, and whether the release arrived or not.
func TestB057NoRenewalAfterUnlock(t *testing.T) {
	eachStore(t, func(w *world) {
		a := w.client()
		a.net.Plan(func(drivertest.Call) drivertest.Fault {
			return drivertest.Fault{After: rand.N(w.s(0.5))}
		})
		rounds := scaled(w, 5, 100)
		if w.store == "memory" {
			rounds = scaled(w, 1000, 10_000)
		}
		for range rounds {
			l := a.lock("k", w.ttl(8))
			owner := w.owner("k")
			w.pass(w.s(2) + rand.N(w.s(1.4))) // around the first renewal
			w.unlock(l)
			a.silent(owner)
			a.net.Forget()
		}
	})
	t.Run("cut", func(t *testing.T) {
		inMemory(t, unlockWhileCut)
		inFolder(t, "sqlite", unlockWhileCut)
	})
}

func unlockWhileCut(w *world) {
	a := w.client()
	l := a.lock("k", w.ttl(8))
	owner := w.owner("k")
	a.net.Partition(driver.ErrUnavailable)
	w.is(l.Unlock(), holdfast.ErrUnavailable)
	a.silent(owner)
	a.net.Heal()
	w.soon(w.s(8), "the name is free", func() bool { return !w.held("k") })
	w.throughout(w.s(16), "nothing brings it back", func() bool { return !w.held("k") })
	a.silent(owner)
}

// silent fails the case if a renewal of owner was sent after the first release.
func (c *client) silent(owner string) {
	c.w.Helper()
	first := 0
	for _, call := range c.net.Calls(drivertest.Renew, drivertest.Release) {
		switch {
		case call.Owner != owner:
		case call.Method == drivertest.Release && first == 0:
			first = call.N
		case call.Method == drivertest.Renew && first != 0:
			c.w.Fatalf("a renewal, call %d, was sent after the release, call %d", call.N, first)
		}
	}
}

// A renewal that finds nothing, since a release was faster, is no loss.
func TestB059NoLossAfterUnlock(t *testing.T) {
	eachStore(t, func(w *world) {
		workers, rounds := 100, scaled(w, 5, 100)
		if w.store == "sqlite" {
			workers, rounds = 10, scaled(w, 3, 20)
		}
		a := w.client()
		a.net.Plan(func(c drivertest.Call) drivertest.Fault {
			if c.Method == drivertest.Renew {
				return drivertest.Fault{Before: rand.N(w.s(0.6)), After: rand.N(w.s(0.6))}
			}
			return drivertest.Fault{}
		})
		var all sync.WaitGroup
		for i := range workers {
			name := fmt.Sprint("k", i)
			all.Go(func() {
				for range rounds {
					a.unlockAtRenewal(name)
				}
			})
		}
		all.Wait()
		if n := a.heard.count(holdfast.Lost); n != 0 {
			w.Errorf("%d losses were told, want none", n)
		}
		if len(a.net.Calls(drivertest.Renew)) == 0 {
			w.Error("no renewal was sent: this case shows nothing")
		}
	})
}

// unlockAtRenewal unlocks at the moment of the first renewal, or close by.
func (c *client) unlockAtRenewal(name string) {
	l, err := c.Mutex(name, c.w.ttl(9)).Lock(context.Background())
	if err != nil {
		c.w.Error(err)
		return
	}
	c.w.pass(c.w.s(3) + time.Duration(rand.N(3))*c.w.s(0.3))
	c.w.is(l.Unlock(), nil)
	c.w.is(context.Cause(l.Context()), holdfast.ErrNotHeld)
}

// Each renewal brings the whole TTL, also when it is late.
func TestB063RenewalsBringTheWholeTTL(t *testing.T) {
	t.Parallel()
	inMemory(t, func(w *world) {
		a := w.client()
		l := a.lock("k", w.ttl(8))
		a.net.Plan(late(drivertest.Renew, w.s(1)))
		w.wholeTTLs("k", w.s(8), 10)
		w.unlock(l)
	})
	inFolder(t, "process", func(w *world) {
		a := w.process()
		a.must("lock k %v", w.s(8))
		for range 3 {
			a.freeze()
			w.pass(w.s(1))
			a.thaw()
			w.wholeTTLs("k", w.s(8), 2)
		}
		a.must("unlock k")
	})
}

// wholeTTLs watches n renewals of name.
func (w *world) wholeTTLs(name string, ttl time.Duration, n int) {
	w.Helper()
	last := w.state(name)
	for range n {
		w.soon(ttl, "a renewal comes", func() bool {
			now := w.state(name)
			renewed := now.ends.After(last.surelyBy.Add(ttl / 20))
			if renewed {
				last = now
			}
			return renewed
		})
		if short := ttl - time.Until(last.ends); short > ttl/6 {
			w.Errorf("%v of %v are missing after a renewal", short, ttl)
		}
	}
}

// A loop that leads as long as it holds a lock ends at the first "not held", and
// may lead again later.
func TestB067LeaderLoopEndsWithItsLock(t *testing.T) {
	eachStoreAlone(t, func(w *world) {
		a, b := w.client(), w.client()
		base := w.goroutines()
		first := a.lead("k")
		w.remove("k")
		lb := b.lock("k", w.ttl(8))
		w.is(first.ended(w), holdfast.ErrLost)
		w.throughout(w.s(9), "only b leads", func() bool { return lb.Check() == nil && first.running() == 0 })
		w.unlock(lb)
		again := a.lead("k")
		w.throughout(w.s(9), "a leads again", func() bool { return again.running() == 1 })
		again.stop()
		w.is(again.ended(w), context.Canceled)
		w.settles(base + 2*standing)
	})
}

// term is one term of a leader.
type term struct {
	stop  context.CancelFunc
	begun chan struct{}
	done  chan error
	mu    sync.Mutex // guards work
	work  int
}

// lead works in a loop under name, in the background.
func (c *client) lead(name string) *term {
	ctx, stop := context.WithCancel(context.Background())
	r := &term{stop: stop, begun: make(chan struct{}), done: make(chan error, 1)}
	go func() {
		r.done <- c.Mutex(name, c.w.ttl(8)).Do(ctx, func(ctx context.Context, _ *holdfast.Lease) error {
			r.add(1)
			defer r.add(-1)
			close(r.begun)
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	<-r.begun
	return r
}

func (r *term) add(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.work += n
}

func (r *term) running() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.work
}

// ended waits for the end of the term.
func (r *term) ended(w *world) error {
	w.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(w.s(9) + w.slack):
		w.Fatal("the term does not end")
		return nil
	}
}

// At most one renewal meets the loss; after it none is sent, for many locks too.
func TestB069NoRenewalAfterALoss(t *testing.T) {
	eachStoreAlone(t, func(w *world) {
		n := scaled(w, 20, 1000)
		if w.store == "memory" {
			n = 1000
		}
		a := w.client()
		base := w.goroutines()
		leases := map[string]*holdfast.Lease{}
		for i := range n {
			name := fmt.Sprint("k", i)
			leases[name] = a.lock(name, w.ttl(12))
		}
		for name := range leases {
			w.remove(name)
		}
		before := len(a.net.Calls(drivertest.Renew))
		for _, l := range leases {
			_, cause := w.ended(l, w.s(4))
			w.is(cause, holdfast.ErrLost)
		}
		if sent := len(a.net.Calls(drivertest.Renew)) - before; sent > n {
			w.Errorf("%d renewals met %d losses", sent, n)
		}
		a.net.Forget()
		w.pass(w.s(12))
		if sent := len(a.net.Calls(drivertest.Renew)); sent != 0 {
			w.Errorf("%d renewals were sent for lost holds", sent)
		}
		w.settles(base + standing)
	})
}

// The holder stops believing before anybody else is let in.
func TestB061NotHeldBeforeAnotherIs(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		l := a.lock("k", w.ttl(8))
		p := b.queue(context.Background(), "k", w.ttl(8))
		a.net.Partition(driver.ErrUnavailable)
		var lost time.Time
		w.soon(w.s(8), "a says that it lost the lock", func() bool {
			if l.Check() != nil && lost.IsZero() {
				lost = time.Now()
			}
			return !lost.IsZero()
		})
		p.gets(w.s(8))
		if !lost.Before(p.at) {
			w.Errorf("a believed for %v beside b", lost.Sub(p.at))
		}
	})
}
