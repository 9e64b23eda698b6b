//go:build unix

package cases_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/store/memstore"
	"github.com/holdfast-go/holdfast/store/sqlitestore"
)

// world is one empty place where locks live. A case opens clients there, each
// behind a network of its own, and looks at the place with an eye that no fault
// disturbs.
type world struct {
	testing.TB
	store  string        // "memory" or "sqlite"
	second time.Duration // what a second of the case lasts here
	slack  time.Duration // how late a busy machine may be
	dir    string        // of sqlite
	place  func() driver.Store
	eye    driver.Store
}

// poll is how often conditions are looked at.
const poll = 10 * time.Millisecond

// eachStore runs a case in memory, where time is virtual and exact, and in a
// folder, where it is real and runs faster than the case says.
func eachStore(t *testing.T, f func(w *world)) {
	t.Helper()
	t.Parallel()
	inMemory(t, f)
	inFolder(t, "sqlite", f)
}

// eachStoreAlone is eachStore for cases that count what the process uses.
func eachStoreAlone(t *testing.T, f func(w *world)) {
	t.Helper()
	inMemory(t, f)
	inFolder(t, "sqlite", f)
}

func inMemory(t *testing.T, f func(w *world)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f(newWorld(&world{TB: t, store: "memory", second: time.Second, slack: time.Millisecond, place: memstore.NewServer().Store}))
		})
	})
}

func inFolder(t *testing.T, name string, f func(w *world)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		if testing.Short() {
			t.Skip("takes real time: not with -short")
		}
		inRealTime(t, func(tb testing.TB, second time.Duration) {
			w := &world{TB: tb, store: "sqlite", second: second, slack: 8 * second, dir: tb.TempDir()}
			w.place = func() driver.Store {
				s, err := sqlitestore.NewStore(&sqlitestore.Options{Dir: w.dir})
				if err != nil {
					w.Fatal(err)
				}
				return s
			}
			f(newWorld(w))
		})
	})
}

func newWorld(w *world) *world {
	w.eye = w.bare()
	w.holding("any") // makes the folder
	return w
}

// s is how long n seconds of the case last here.
func (w *world) s(n float64) time.Duration { return time.Duration(n * float64(w.second)) }

// bare returns a store without a client, for single requests.
func (w *world) bare() driver.Store {
	s := w.place()
	w.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// holding returns who holds name now, or nil.
func (w *world) holding(name string) *driver.Holding {
	w.Helper()
	hs, err := w.eye.(driver.Inspector).Inspect(context.Background(), name)
	if err != nil {
		w.Fatalf("inspect %q: %v", name, err)
	}
	if len(hs) == 0 {
		return nil
	}
	return &hs[0]
}

func (w *world) held(name string) bool { return w.holding(name) != nil }

// hold returns name's hold as its owner would send it.
func (w *world) hold(name string, ttl time.Duration) driver.Hold {
	w.Helper()
	h := w.holding(name)
	if h == nil {
		w.Fatalf("nobody holds %q", name)
	}
	return driver.Hold{Name: name, Kind: h.Kind, Owner: h.Owner, Token: h.Token, TTL: ttl}
}

// remove takes name away behind the library's back: its holder is not told.
func (w *world) remove(name string) {
	w.Helper()
	r, err := w.eye.Release(context.Background(), w.hold(name, 0))
	if err != nil || !r.Freed {
		w.Fatalf("remove %q: %+v, %v", name, r, err)
	}
}

// state is what must not change in a hold that nobody of its owner touches.
type state struct {
	owner          string
	token          int64
	ends, surelyBy time.Time // between these
}

func (w *world) state(name string) state {
	w.Helper()
	before := time.Now()
	h := w.holding(name)
	if h == nil {
		return state{}
	}
	return state{h.Owner, h.Token, before.Add(h.Left), time.Now().Add(h.Left)}
}

// untouched fails the case if name is not held exactly as before.
func (w *world) untouched(name string, before state) {
	w.Helper()
	now := w.state(name)
	if now.owner != before.owner || now.token != before.token {
		w.Fatalf("%q was %+v and is %+v", name, before, now)
	}
	const exact = 2 * time.Millisecond
	if now.ends.After(before.surelyBy.Add(exact)) || now.surelyBy.Before(before.ends.Add(-exact)) {
		w.Fatalf("the end of %q moved by %v", name, now.ends.Sub(before.ends))
	}
}

// pass lets time pass, where that is part of the case.
func (w *world) pass(d time.Duration) { <-time.After(d) }

// soon waits for a condition that must hold within d.
func (w *world) soon(d time.Duration, what string, cond func() bool) {
	w.Helper()
	for end := time.Now().Add(d + w.slack); !cond(); w.pass(poll) {
		if time.Now().After(end) {
			w.Fatalf("not within %v: %s", d, what)
		}
	}
}

// throughout watches a condition that must hold all the time for d.
func (w *world) throughout(d time.Duration, what string, cond func() bool) {
	w.Helper()
	for start := time.Now(); ; w.pass(poll) {
		if !cond() {
			w.Fatalf("not any more after %v: %s", time.Since(start), what)
		}
		if time.Since(start) >= d {
			return
		}
	}
}

// is fails the case unless err matches all targets.
func (w *world) is(err error, targets ...error) {
	w.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			w.Errorf("error %v does not match %q", err, target)
		}
	}
}

// isnt fails the case if err matches target.
func (w *world) isnt(err, target error) {
	w.Helper()
	if errors.Is(err, target) {
		w.Errorf("error %v matches %q", err, target)
	}
}
