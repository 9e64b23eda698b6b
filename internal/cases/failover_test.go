//go:build unix

package cases_test

import (
	"context"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

// After a loss the lease is dead, and the same Mutex locks as if new.
func TestB121LockAgainAfterALoss(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		m := a.Mutex("k", w.ttl(8))
		first, err := m.Lock(context.Background())
		w.is(err, nil)
		a.net.Partition(driver.ErrUnavailable)
		_, cause := w.ended(a.keep(first), w.s(8))
		w.is(cause, holdfast.ErrLost)
		w.soon(w.s(2), "the hold expires", func() bool { return !w.held("k") })
		a.net.Heal()
		second, err := m.Lock(context.Background())
		w.is(err, nil)
		a.keep(second)
		w.is(first.Check(), holdfast.ErrLost)
		w.is(first.Unlock(), holdfast.ErrLost)
		w.throughout(w.s(9), "the second hold is renewed", func() bool { return second.Check() == nil })
		b.refused("k")
		w.unlock(second)
	})
}

// Extend, renewal and Unlock work again by themselves once the store is back.
func TestB117AfterARestart(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		l := a.lock("k", w.ttl(10))
		restart := func() {
			a.net.Partition(driver.ErrUnavailable)
			w.pass(w.s(1))
			a.net.Heal()
		}
		restart()
		w.is(l.Extend(context.Background(), w.s(15)), nil)
		if left := w.holding("k").Left; left < w.s(14) {
			w.Errorf("after Extend to %v the store has %v", w.s(15), left)
		}
		restart()
		w.throughout(w.s(18), "the hold is renewed", func() bool { return l.Check() == nil })
		restart()
		w.unlock(l)
		if w.held("k") {
			w.Error("the unlock left the lock")
		}
		w.unlock(b.lock("k", w.ttl(10)))
	})
}
