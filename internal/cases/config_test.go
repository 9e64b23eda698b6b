//go:build unix

package cases_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// A TTL that is no TTL is refused before anything is sent; none means the
// default; the longest one works.
func TestB133OddTTLs(t *testing.T) {
	eachStore(t, func(w *world) {
		a := w.client()
		for _, ttl := range []time.Duration{-time.Second, -1, 1, 999 * time.Microsecond, 1<<63 - 1} {
			l, err := a.Mutex("k", &holdfast.MutexOptions{TTL: ttl}).Lock(context.Background())
			w.is(err, holdfast.ErrInvalid)
			a.keep(l)
			if err != nil && !strings.Contains(err.Error(), ttl.String()) {
				w.Errorf("the error does not name the value %v: %v", ttl, err)
			}
		}
		if cs := a.net.Calls(); len(cs) != 0 {
			w.Errorf("invalid TTLs were sent: %+v", cs)
		}
		const longest = 10 * 365 * 24 * time.Hour
		for _, ttl := range []time.Duration{0, longest} {
			want := ttl
			if ttl == 0 {
				want = 30 * time.Second
			}
			l := a.lock("k", &holdfast.MutexOptions{TTL: ttl})
			if left := w.holding("k").Left; left > want || left < want-w.slack {
				w.Errorf("TTL %v leaves the hold for %v", ttl, left)
			}
			w.unlock(l)
		}
	})
}

// An extension by nothing or less is an error, and never ends the hold.
func TestB135ExtendByNothing(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		l := a.lock("k", w.fixed(10))
		before := w.state("k")
		for _, d := range []time.Duration{0, -1, -time.Hour} {
			w.is(l.Extend(context.Background(), d), holdfast.ErrInvalid)
		}
		w.is(l.Extend(context.Background(), w.s(1)), nil) // less than is left
		w.untouched("k", before)
		b.refused("k")
		w.is(l.Check(), nil)
	})
}

// A number of the wrong unit is refused, with numbers and units; a store that is
// too slow for the TTL is told of, not locked in.
func TestB137WrongUnits(t *testing.T) {
	eachStore(t, func(w *world) {
		a := w.client()
		_, err := a.Mutex("k", &holdfast.MutexOptions{TTL: 30}).Lock(context.Background()) // meant as seconds
		w.is(err, holdfast.ErrInvalid)
		for _, part := range []string{`"k"`, "30ns", "at least", "1"} {
			if !strings.Contains(fmt.Sprint(err), part) {
				w.Errorf("the error does not say %s: %v", part, err)
			}
		}
		_, err = a.Mutex("k", &holdfast.MutexOptions{TTL: w.s(10), Margin: w.s(6)}).Lock(context.Background())
		w.is(err, holdfast.ErrInvalid)

		a.net.Plan(func(drivertest.Call) drivertest.Fault { return drivertest.Fault{After: w.s(1)} })
		l, err := a.Mutex("k", w.ttl(2.5)).Lock(context.Background()) // less than three round trips
		a.keep(l)
		w.is(err, holdfast.ErrUnavailable)
		w.isnt(err, holdfast.ErrHeld)
		if limit := (w.s(2.5) / 3).Round(time.Millisecond).String(); !strings.Contains(fmt.Sprint(err), limit+", a third of the TTL") {
			w.Errorf("the error does not say that %v was not enough: %v", limit, err)
		}
	})
}

// How long to wait is independent of the TTL.
func TestB143WaitIsNotTheTTL(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		la := a.lock("k", w.ttl(10))
		p := b.begin(context.Background(), "k", w.within(8, 60))
		w.throughout(w.s(20), "b waits", func() bool {
			select {
			case <-p.done:
				return false
			default:
				return true
			}
		})
		w.unlock(la)
		w.unlock(p.gets(w.s(1)))
	})
}

// What is stored under a lock's name and is no lock is told apart from a lock
// that is taken, and a hold that was overwritten is not released by its old
// holder.
func TestB145NotALock(t *testing.T) {
	eachStore(t, func(w *world) {
		a := w.client()
		l := a.lock("k", w.ttl(30))
		w.remove("k")
		_, err := w.eye.Try(context.Background(), driver.Request{
			Name: "k", Kind: driver.Mutex, Owner: "other", TTL: w.s(60), NotAfter: time.Now().Add(time.Hour),
		})
		w.is(err, nil)
		before := w.state("k")
		w.is(l.Unlock(), holdfast.ErrLost)
		w.untouched("k", before)
	})
	inFolder(t, "foreign file", func(w *world) {
		dir := w.TempDir()
		data := []byte(strings.Repeat("some data ", 1000))
		if err := os.WriteFile(filepath.Join(dir, "locks.db"), data, 0o600); err != nil {
			w.Fatal(err)
		}
		w.dir = dir
		c := w.stranger()
		_, err := c.Mutex("k", nil).TryLock(context.Background())
		w.is(err, holdfast.ErrCorrupt)
		w.isnt(err, holdfast.ErrHeld)
		if got, _ := os.ReadFile(filepath.Join(dir, "locks.db")); string(got) != string(data) {
			w.Error("the foreign file was changed")
		}
	})
}

// Names are used as they are: no two of them meet, not even a name and its hash.
func TestB147NamesNeverMeet(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		n := scaled(w, 100, 10_000)
		if w.store == "memory" {
			n = scaled(w, 5000, 1_000_000)
		}
		long := strings.Repeat("n", driver.MaxNameBytes)
		sum := sha256.Sum256([]byte(long))
		names := []string{
			"n", "N", "n ", " n", "n/", "n\u0301", "ń", "%6e", "{n}", "{n}n", "a{n}", long, long[1:],
			hex.EncodeToString(sum[:]), hex.EncodeToString(sum[:])[:5],
		}
		for i := range n {
			names = append(names, fmt.Sprint("order:", i))
		}
		for _, name := range names {
			l, err := a.Mutex(name, w.ttl(10_000)).TryLock(context.Background())
			if err != nil {
				w.Fatalf("lock %.40q: %v", name, err)
			}
			defer l.Unlock()
		}
		b.refused(long)
		before := len(a.net.Calls())
		for _, size := range []int{0, driver.MaxNameBytes + 1, 64 << 10} {
			_, err := a.Mutex(strings.Repeat("x", size), nil).TryLock(context.Background())
			w.is(err, holdfast.ErrInvalid)
		}
		if len(a.net.Calls()) != before {
			w.Error("a name that is too long was sent")
		}
	})
}
