//go:build unix

package cases_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// bounded reports whether name is free or held for at most ttl: never for ever.
func (w *world) bounded(name string, ttl time.Duration) bool {
	h := w.holding(name)
	return h == nil || h.Left > 0 && h.Left <= ttl
}

// A holder that dies in the middle of taking a lock leaves none without a TTL.
func TestB031NoMomentWithoutTTL(t *testing.T) {
	t.Parallel()
	vanish := func(w *world) {
		a, b := w.client(), w.client()
		a.net.Next(drivertest.Try, drivertest.Fault{LoseReply: true})
		p := a.begin(context.Background(), "k", w.ttl(10))
		w.soon(w.s(1), "the request arrives", func() bool { return w.held("k") })
		a.net.Partition(nil)
		waiting := b.queue(context.Background(), "k", w.ttl(10))
		w.throughout(w.s(5), "the hold has a TTL", func() bool { return w.bounded("k", w.s(10)) })
		w.unlock(waiting.gets(w.s(5)))
		_, err := p.end(w.s(20))
		w.is(err, holdfast.ErrUnavailable)
	}
	inMemory(t, vanish)
	inFolder(t, "sqlite", vanish)
	inFolder(t, "process", func(w *world) {
		b := w.client()
		for range scaled(w, 10, 500) {
			a := w.process()
			a.ask("pid -") // past the start of the process
			a.send("lock k %v", w.s(10))
			w.pass(rand.N(2 * time.Millisecond))
			a.kill()
			if !w.bounded("k", w.s(10)) {
				w.Fatalf("after the kill: %+v", w.holding("k"))
			}
			w.unlock(b.begin(context.Background(), "k", w.ttl(10)).gets(w.s(10)))
		}
	})
}

// A waiter that died, or hangs, blocks nobody behind it.
func TestB035DeadWaiterBlocksNobody(t *testing.T) {
	t.Parallel()
	cut := func(w *world) {
		a, b, c := w.client(), w.client(), w.client()
		la := a.lock("k", w.ttl(10))
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		b.queue(ctx, "k", w.ttl(10))
		b.net.Partition(nil)
		p := c.queue(context.Background(), "k", w.within(10, 30))
		w.unlock(la)
		w.unlock(p.gets(w.s(1)))
	}
	inMemory(t, cut)
	inFolder(t, "sqlite", cut)
	for name, end := range map[string]func(*process){"killed": (*process).kill, "frozen": (*process).freeze} {
		inFolder(t, name, func(w *world) {
			a, b, c := w.client(), w.process(), w.client()
			la := a.lock("k", w.ttl(10))
			b.send("lock k %v", w.s(10))
			w.soon(w.s(5), "b waits", func() bool { return w.holding("k").Waiters == 1 })
			end(b)
			p := c.queue(context.Background(), "k", w.within(10, 30))
			w.unlock(la)
			w.unlock(p.gets(w.s(10)))
		})
	}
}

// An acquire whose reply is lost is given back, or recognised when sent again.
// Either way the error is no leave to go on without a lock.
func TestB037LostReplyOfAcquire(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.stranger(), w.client()
		a.net.Next(drivertest.Try, drivertest.Fault{LoseReply: true})
		l, err := a.Mutex("k", w.ttl(30)).Lock(context.Background())
		w.is(err, holdfast.ErrUnavailable)
		w.isnt(err, holdfast.ErrHeld)
		w.is(l.Unlock(), holdfast.ErrNotHeld)
		w.unlock(b.begin(context.Background(), "k", w.within(30, 5)).gets(w.s(5)))
	})
	t.Run("again", func(t *testing.T) {
		inMemory(t, recognised)
		inFolder(t, "sqlite", recognised)
	})
}

// recognised: a client that knows its store asks again, as the same owner.
func recognised(w *world) {
	a, b := w.client(), w.client()
	a.net.Next(drivertest.Try, drivertest.Fault{LoseReply: true, Err: driver.ErrUnknown})
	l := a.lock("k", w.ttl(30))
	if got, want := l.Token(), w.hold("k", 0).Token; got != want {
		w.Errorf("the lease has token %d, the store %d", got, want)
	}
	b.refused("k")
	w.unlock(l)
	w.unlock(b.begin(context.Background(), "k", w.within(30, 5)).gets(w.s(5)))
}

// defaultTTL is what the documentation says.
const defaultTTL = 30 * time.Second

// The default has a TTL: after the death of a holder others get in.
func TestB043DefaultsExpire(t *testing.T) {
	t.Parallel()
	inMemory(t, func(w *world) {
		a, b := w.client(), w.client()
		a.lock("k", nil)
		a.net.Partition(nil)
		b.begin(context.Background(), "k", nil).gets(defaultTTL)
	})
	inFolder(t, "process", func(w *world) {
		a, b := w.process(), w.client()
		a.must("lock k 0s") // the default
		if left := w.holding("k").Left; left <= 0 || left > defaultTTL {
			w.Errorf("the default leaves the hold for %v", left)
		}
		p := b.queue(context.Background(), "k", nil)
		a.kill()
		w.unlock(p.gets(w.s(1))) // the store notices the death
	})
}

// Waiters occupy nothing that the holder needs to release.
func TestB045WaitersDoNotStarveTheRelease(t *testing.T) {
	eachStore(t, func(w *world) {
		a := w.client()
		l := a.lock("k", w.ttl(30))
		var all []*pending
		for range 50 {
			all = append(all, a.begin(context.Background(), "k", w.within(30, 100)))
		}
		w.pass(w.s(1))
		start := time.Now()
		w.unlock(l)
		if took := time.Since(start); took > w.s(1)+w.slack/4 {
			w.Errorf("the release took %v", took)
		}
		for range all {
			w.unlock(firstOf(w, &all))
		}
	})
}

// firstOf waits for one of the calls to get the lock, and takes it off the list.
func firstOf(w *world, all *[]*pending) *holdfast.Lease {
	w.Helper()
	var l *holdfast.Lease
	w.soon(w.s(10), fmt.Sprintf("one of %d waiters gets the lock", len(*all)), func() bool {
		for i, p := range *all {
			select {
			case <-p.done:
				l = p.gets(0)
				*all = append((*all)[:i:i], (*all)[i+1:]...)
				return true
			default:
			}
		}
		return false
	})
	return l
}

// A signal that comes between the answer "taken" and the wait for a change is
// not lost.
func TestB033WakeUpBeforeTheWait(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		la := a.lock("k", w.ttl(300))
		b.net.Next(drivertest.Wait, drivertest.Fault{Before: w.s(1)})
		p := b.queue(context.Background(), "k", w.within(10, 60))
		w.unlock(la) // while b's wait is on its way
		start := time.Now()
		w.unlock(p.gets(w.s(1)))
		if took := time.Since(start); took > w.s(1)+w.slack {
			w.Errorf("b parked for %v beside a free lock", took)
		}
	})
}

// A release that failed on its way can be repeated, and is repeated by itself.
func TestB041UnlockThroughACut(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		l := a.lock("k", w.ttl(30))
		a.net.Partition(driver.ErrUnavailable)
		w.is(l.Unlock(), holdfast.ErrUnavailable)
		if !w.held("k") {
			w.Error("the release passed the cut: this case shows nothing")
		}
		a.net.Heal()
		w.is(l.Unlock(), nil)
		w.unlock(b.begin(context.Background(), "k", w.ttl(30)).gets(w.s(2)))

		left := b.lock("k", w.ttl(30)) // and once more, repeated by nobody
		b.net.Partition(driver.ErrUnavailable)
		w.is(left.Unlock(), holdfast.ErrUnavailable)
		b.net.Heal()
		w.unlock(a.begin(context.Background(), "k", w.ttl(30)).gets(w.s(2)))
	})
}
