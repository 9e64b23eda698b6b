package memstore

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

func take(t *testing.T, s driver.Store, name string) driver.Hold {
	t.Helper()
	g, err := s.Try(t.Context(), driver.Request{Name: name, Kind: driver.Mutex, Owner: name, TTL: time.Hour})
	if err != nil {
		t.Fatalf("Try(%q): %v", name, err)
	}
	return g.Hold
}

func release(t *testing.T, s driver.Store, h driver.Hold) driver.Released {
	t.Helper()
	rel, err := s.Release(t.Context(), h)
	if err != nil {
		t.Fatalf("Release(%q): %v", h.Name, err)
	}
	return rel
}

// A server that sees ever new names must not grow with their number.
func TestIdleNamesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := NewServer()
		s := server.Store()
		kept := take(t, s, "kept")
		most := 0
		for i := range 10_000 {
			release(t, s, take(t, s, fmt.Sprint("n", i)))
			most = max(most, len(server.locks))
			if i%10 == 0 {
				<-time.After(10 * time.Second) // 60 names in a minute
			}
			if i%100 == 0 {
				s.Renew(t.Context(), []driver.Hold{kept}, func(_ int, _ driver.Validity, err error) {
					if err != nil {
						t.Fatalf("a live hold was forgotten: %v", err)
					}
				})
			}
		}
		if limit := 2*61 + minSweep; most > limit {
			t.Errorf("%d names are remembered at once, want at most %d", most, limit)
		}
	})
}

func TestTokensOutliveTheirNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := NewServer()
		s := server.Store()
		var last int64
		for range 5 {
			h := take(t, s, "n")
			last = h.Token
			release(t, s, h)
		}
		if rel := release(t, s, driver.Hold{Name: "n", Owner: "x"}); rel.Token != last {
			t.Errorf("Released.Token is %d soon after, want %d", rel.Token, last)
		}
		<-time.After(keep)
		for i := range minSweep {
			take(t, s, fmt.Sprint("other", i))
		}
		if rel := release(t, s, driver.Hold{Name: "n", Owner: "x"}); rel.Token != 0 {
			t.Errorf("Released.Token is %d, want 0: the name should be forgotten", rel.Token)
		}
		if h := take(t, s, "n"); h.Token <= last {
			t.Errorf("token %d after %d", h.Token, last)
		}
	})
}

// refused tries "n" for an owner that does not get it.
func refused(t *testing.T, s driver.Store) (driver.Request, *driver.Busy) {
	t.Helper()
	r := driver.Request{Name: "n", Kind: driver.Mutex, Owner: "w", TTL: time.Hour}
	_, err := s.Try(t.Context(), r)
	var b *driver.Busy
	if !errors.As(err, &b) {
		t.Fatalf("Try: %v", err)
	}
	return r, b
}

// A waiter that slept while the name was freed, forgotten and taken again has
// missed a signal all the same.
func TestMarksOutliveTheirNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewServer().Store()
		h := take(t, s, "n")
		r, b := refused(t, s)
		release(t, s, h)
		<-time.After(keep)
		for i := range minSweep {
			take(t, s, fmt.Sprint("other", i))
		}
		take(t, s, "n")
		start := time.Now()
		if err := s.Wait(t.Context(), r, b); err != nil || time.Since(start) > 0 {
			t.Errorf("Wait: %v after %v, want nil at once", err, time.Since(start))
		}
	})
}

func TestWaitersKeepNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := NewServer()
		s, other := server.Store(), server.Store()
		h := take(t, s, "n")
		r, b := refused(t, other)
		ctx, cancel := context.WithCancel(t.Context())
		for range 3 {
			go func() { _ = other.Wait(ctx, r, b) }()
			go func() { _ = other.Wait(t.Context(), r, b) }()
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		if rel := release(t, s, h); rel.Waiters != 1 {
			t.Errorf("Waiters is %d, want the one client that waits thrice", rel.Waiters)
		}
		synctest.Wait()
		take(t, s, "n")
		r, b = refused(t, other)
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = other.Wait(ctx, r, b)
		if l := server.locks["n"]; len(l.waiting) != 0 || l.signal != nil {
			t.Errorf("left behind: %+v", l)
		}
	})
}
