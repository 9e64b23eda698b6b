//go:build unix

package cases_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// A hold that the store dropped is lost at the next renewal, and the renewal
// does not bring it back.
func TestB149DroppedHoldIsLost(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		la := a.lock("k", w.ttl(10))
		w.remove("k")
		lb := b.lock("k", w.ttl(10))
		_, cause := w.ended(la, w.s(10)/3)
		w.is(cause, holdfast.ErrLost)
		w.throughout(w.s(5), "b holds", func() bool { return lb.Check() == nil })
		w.unlock(lb)
	})
}

// A store that has no room refuses, which is not "taken"; what is held can still
// be renewed, extended and released.
func TestB151NoRoomForMore(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		l := a.lock("k", w.ttl(10))
		full := func(c drivertest.Call) drivertest.Fault {
			if c.Method == drivertest.Try {
				return drivertest.Fault{LoseRequest: true, Err: fmt.Errorf("%w: out of memory", driver.ErrRefused)}
			}
			return drivertest.Fault{}
		}
		a.net.Plan(full)
		b.net.Plan(full)
		for _, name := range []string{"k", "other"} {
			lb, err := b.Mutex(name, w.ttl(10)).Lock(context.Background())
			b.keep(lb)
			w.is(err, holdfast.ErrRefused)
			w.isnt(err, holdfast.ErrHeld)
		}
		w.is(l.Extend(context.Background(), w.s(12)), nil)
		w.throughout(w.s(14), "a renews", func() bool { return l.Check() == nil })
		w.unlock(l)
		if w.held("k") {
			w.Error("the unlock left the lock")
		}
	})
}

// Everything in the store is wiped: holders learn at their next renewal, nothing
// is created again, and tokens still grow.
func TestB153WipedStore(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		leases := map[string]*holdfast.Lease{}
		for _, name := range []string{"k1", "k2", "k3"} {
			leases[name] = a.lock(name, w.ttl(10))
		}
		for name := range leases {
			w.remove(name)
		}
		for _, l := range leases {
			_, cause := w.ended(l, w.s(10)/3)
			w.is(cause, holdfast.ErrLost)
		}
		w.throughout(w.s(10), "nothing is created again", func() bool { return !w.held("") })
		w.unlock(b.lock("k1", w.ttl(10)))
	})
	inFolder(t, "folder deleted", func(w *world) {
		a, b := w.client(), w.client()
		la := a.lock("k", w.ttl(10))
		es, err := os.ReadDir(w.dir)
		if err != nil {
			w.Fatal(err)
		}
		for _, e := range es {
			if err := os.Remove(w.dir + "/" + e.Name()); err != nil {
				w.Fatal(err)
			}
		}
		lb := b.lock("k", w.ttl(10))
		_, cause := w.ended(la, w.s(10)/3)
		w.is(cause, holdfast.ErrLost)
		w.throughout(w.s(10), "b holds", func() bool { return lb.Check() == nil })
		if lb.Token() <= la.Token() {
			w.Errorf("token %d after the wipe does not exceed %d", lb.Token(), la.Token())
		}
	})
}

// A client that sees many names forgets none that it holds.
func TestB155HeldNamesAreNotForgotten(t *testing.T) {
	eachStore(t, func(w *world) {
		a := w.client()
		var names []string
		for i := range 10 {
			names = append(names, fmt.Sprint("held ", i))
			a.lock(names[i], w.ttl(300))
		}
		a.cycle("passing ", scaled(w, 300, 1000))
		w.pass(w.s(2))
		a.cycle("passing by ", scaled(w, 300, 1000))
		for _, name := range names {
			a.refused(name)
			_, err := a.Mutex(name, &holdfast.MutexOptions{Wait: time.Millisecond}).Lock(context.Background())
			if !errors.Is(err, holdfast.ErrHeld) {
				w.Errorf("lock %q: %v", name, err)
			}
		}
	})
}
