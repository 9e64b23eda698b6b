//go:build unix

package cases_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// A waiter that gets in after a time longer than the TTL has nearly all of its
// own TTL, and a Mutex can be used again however late.
func TestB127WaitingCostsNoValidity(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		a.lock("k", w.fixed(20)) // and never unlocks
		p := b.begin(context.Background(), "k", &holdfast.MutexOptions{TTL: w.s(20), NoRenew: true, Wait: w.s(30) + w.slack})
		l := p.gets(w.s(20))
		if left := l.Deadline().Sub(p.at); left < w.s(15) {
			w.Errorf("%v of %v are left", left, w.s(20))
		}
		w.unlock(l)

		m := b.Mutex("once more", w.ttl(8))
		for range 2 {
			l, err := m.Lock(context.Background())
			w.is(err, nil)
			w.unlock(l)
			w.pass(w.s(9))
		}
		if w.held("") {
			w.Error("something is still held")
		}
	})
	t.Run("failed", func(t *testing.T) { // by a grant whose answer takes too long
		inMemory(t, func(w *world) {
			a := w.client()
			a.net.Plan(func(c drivertest.Call) drivertest.Fault {
				if c.Method == drivertest.Try {
					return drivertest.Fault{After: w.s(10)}
				}
				return drivertest.Fault{}
			})
			_, err := a.Mutex("k", &holdfast.MutexOptions{TTL: w.s(20), Patience: w.s(15)}).Lock(context.Background())
			w.is(err, holdfast.ErrUnavailable)
			a.net.Plan(nil)
			w.soon(w.s(4), "the grant is given back", func() bool { return !w.held("k") })
			w.throughout(w.s(30), "and stays so", func() bool { return !w.held("k") })
		})
	})
}

// A process that wakes up past its deadline says so at its first look, whatever
// its timers have had time to do. The machine's suspend is tested with the
// client's clock.
func TestB129FirstLookAfterASleep(t *testing.T) {
	t.Parallel()
	inFolder(t, "process", func(w *world) {
		b := w.client()
		for _, look := range []string{"alive", "check", "look", "look"} {
			a := w.process()
			a.must("lock k %v", w.s(10))
			if look == "look" {
				a.send("look k")
				w.pass(poll) // it looks all the time
			}
			a.freeze()
			l := b.lock("k", w.ttl(10)) // when a's hold has expired
			if look != "look" {
				a.send("%s k", look)
			}
			a.thaw()
			if got := a.answer(); !strings.HasPrefix(got, "lost") {
				w.Errorf("%s says %q while another holds the lock", look, got)
			}
			if got := a.ask("unlock k"); got != "lost" {
				w.Errorf("unlock says %q", got)
			}
			w.is(l.Check(), nil)
			if got := w.holding("k").Token; got != l.Token() {
				w.Errorf("the store has token %d, b has %d", got, l.Token())
			}
			w.unlock(l)
			a.kill()
		}
	})
}

// No clock of a client decides who holds a lock: only durations travel.
func TestB125OnlyDurationsTravel(t *testing.T) {
	eachStore(t, func(w *world) {
		a := w.client()
		a.lock("k", w.ttl(10))
		r := driver.Request{ // of a client whose clock is an hour ahead
			Name: "k", Kind: driver.Mutex, Owner: "skewed:1", TTL: w.s(10), NotAfter: time.Now().Add(time.Hour),
		}
		before := w.state("k")
		if g, err := w.eye.Try(context.Background(), r); err == nil {
			w.Errorf("a skewed client was granted %+v", g)
		}
		w.untouched("k", before)
	})
}
