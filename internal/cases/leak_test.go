//go:build unix

package cases_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// cycle locks and unlocks n names.
func (c *client) cycle(prefix string, n int) {
	c.w.Helper()
	for i := range n {
		err := c.Do(context.Background(), fmt.Sprint(prefix, i), func(context.Context, *holdfast.Lease) error { return nil })
		if err != nil {
			c.w.Fatal(err)
		}
	}
}

// A name that was used once is forgotten after a documented time: a minute in
// memory, a day in a folder.
func TestB087NamesAreForgotten(t *testing.T) {
	inMemory(t, func(w *world) {
		n := scaled(w, 3000, 100_000)
		a := w.client()
		use := func(round int) uint64 {
			a.cycle(fmt.Sprint("round ", round, " name "), n)
			a.net.Forget()
			a.heard.forget()
			w.pass(2 * time.Minute)
			return heap()
		}
		use(0)
		early := use(1)
		for round := range 4 {
			use(2 + round)
		}
		if grown := int64(heap()) - int64(early); grown > 4*50*int64(n) { // a name takes more
			w.Errorf("%d names left %d bytes", 4*n, grown)
		}
		if w.held("") {
			w.Error("holds are left")
		}
	})
	inFolder(t, "sqlite", func(w *world) {
		n := scaled(w, 500, 100_000)
		a := w.client()
		a.cycle("old ", n)
		if r := w.rows("left.sql"); r != 0 {
			w.Errorf("%d rows of holds, waiters and breaks are left", r)
		}
		w.exec("age.sql") // by two days
		a.cycle("new ", n/2)
		if r := w.rows("names.sql"); r > n/2+2 {
			w.Errorf("%d names are remembered, of which %d are recent", r, n/2)
		}
		if n := w.files(); n > 3+64+4 { // the database, wake-ups, clients
			w.Errorf("%d files are in the folder", n)
		}
	})
}

// heap is how many bytes are in use.
func heap() uint64 {
	runtime.GC()
	runtime.GC() // after what finalizers and cleanups let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// statement reads one of testdata.
func (w *world) statement(file string) string {
	w.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		w.Fatal(err)
	}
	return string(b)
}

// database opens the folder's database as another program would.
func (w *world) database() *sql.DB {
	w.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.dir, "locks.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		w.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	w.Cleanup(func() { _ = db.Close() })
	return db
}

func (w *world) exec(file string) {
	w.Helper()
	if _, err := w.database().Exec(w.statement(file)); err != nil {
		w.Fatal(err)
	}
}

func (w *world) rows(file string) (n int) {
	w.Helper()
	if err := w.database().QueryRow(w.statement(file)).Scan(&n); err != nil {
		w.Fatal(err)
	}
	return n
}

func (w *world) files() int {
	w.Helper()
	es, err := os.ReadDir(w.dir)
	if err != nil {
		w.Fatal(err)
	}
	return len(es)
}

// Locks that are taken, renewed and given back cost no goroutine afterwards.
func TestB089NoGoroutinePerLock(t *testing.T) {
	eachStoreAlone(t, func(w *world) {
		n := scaled(w, 300, 10_000)
		if w.store == "memory" {
			n = 10_000
		}
		a := w.client()
		base := w.goroutines()
		a.cycle("k", n)
		w.settles(base + standing)
	})
}

// The client's own goroutines end with Close, with leases left open too.
func TestB091CloseEndsAllGoroutines(t *testing.T) {
	eachStoreAlone(t, func(w *world) {
		n := scaled(w, 100, 1000)
		if w.store == "memory" {
			n = 1000
		}
		base := w.goroutines()
		for _, open := range []int{0, 10, 10, 10} {
			c := w.stranger()
			c.cycle("k", n)
			for i := range open {
				c.lock(fmt.Sprint("open ", i), w.ttl(10))
			}
			ctx, cancel := context.WithTimeout(context.Background(), w.s(1))
			err := c.Close(ctx)
			cancel()
			if (err != nil) != (open > 0) {
				w.Errorf("close with %d leases open: %v", open, err)
			}
			w.settles(base)
		}
	})
}

// Waiting on several names at once leaves no subscription, and no name that can
// no longer be waited for.
func TestB093WaitersLeaveNoSubscription(t *testing.T) {
	eachStoreAlone(t, func(w *world) {
		rounds := scaled(w, 5, 1000)
		clients := []*client{w.client(), w.client()}
		base := w.goroutines()
		workers := 200
		if w.store == "sqlite" {
			workers, rounds = 40, scaled(w, 3, 100)
		}
		var counts [2]int // guarded by the locks
		var all sync.WaitGroup
		for i := range workers {
			c, name := clients[i/2%2], i%2
			all.Go(func() {
				for range rounds {
					w.is(c.Do(context.Background(), fmt.Sprint("k", name), func(context.Context, *holdfast.Lease) error {
						was := counts[name]
						runtime.Gosched()
						counts[name] = was + 1
						return nil
					}), nil)
				}
			})
		}
		all.Wait()
		if want := workers / 2 * rounds; counts != [2]int{want, want} {
			w.Errorf("counted %v, want %d each: updates were lost", counts, want)
		}
		w.settles(base + 2*standing)
		for _, name := range []string{"k0", "k1"} {
			l := clients[0].lock(name, w.ttl(30))
			if n := w.holding(name).Waiters; n != 0 {
				w.Errorf("%d waiters are left on %s", n, name)
			}
			p := clients[1].queue(context.Background(), name, w.ttl(30))
			w.unlock(l)
			w.unlock(p.gets(w.s(1)))
		}
	})
}

// Entering again adds nothing to the renewals, and the last unlock ends them.
func TestB095ReentryLeavesNoRenewal(t *testing.T) {
	eachStore(t, func(w *world) {
		a := w.client()
		l := a.lock("k", w.ttl(8))
		leases := []*holdfast.Lease{l}
		for range 2 {
			inner, err := a.enter(l, "k", reentrant)
			w.is(err, nil)
			leases = append(leases, inner)
		}
		a.net.Forget()
		w.throughout(w.s(8.5), "a holds", func() bool { return l.Check() == nil })
		if n := len(a.net.Calls(drivertest.Renew)); n > 4 {
			w.Errorf("%d renewals in three intervals: each level renews", n)
		}
		for _, l := range leases {
			w.unlock(l)
		}
		a.net.Forget()
		w.pass(w.s(8.5))
		if cs := a.net.Calls(); len(cs) != 0 {
			w.Errorf("%d requests after the last unlock: %+v", len(cs), cs)
		}
	})
}

// A failed try keeps no connection and no descriptor.
func TestB097FailedTriesKeepNothing(t *testing.T) {
	inFolder(t, "sqlite", func(w *world) {
		a, b := w.client(), w.client()
		a.lock("k", w.ttl(300))
		tries := func(n int) {
			for range n {
				b.refused("k")
				_, err := b.Mutex("k", w.upTo(10, 0.01)).Lock(context.Background())
				w.is(err, context.DeadlineExceeded)
			}
		}
		tries(5)
		before, goroutines := descriptors(w), w.goroutines()
		tries(scaled(w, 100, 1000))
		if n := descriptors(w); n > before {
			w.Errorf("%d descriptors are open, %d were", n, before)
		}
		w.settles(goroutines)
	})
}

// descriptors is how many files this process has open.
func descriptors(w *world) int {
	w.Helper()
	es, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		w.Skipf("needs /proc to count open files: %v", err)
	}
	return len(es)
}
