package memstore_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/store/memstore"
)

func request(owner string) driver.Request {
	return driver.Request{Name: "n", Kind: driver.Mutex, Owner: owner, TTL: time.Minute}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		alter     func(r *driver.Request)
		temporary bool
	}{
		"another kind":   {func(r *driver.Request) { r.Kind = driver.Write }, false},
		"no kind":        {func(r *driver.Request) { r.Kind = 0 }, false},
		"too short":      {func(r *driver.Request) { r.TTL = time.Millisecond - 1 }, false},
		"no token left":  {func(r *driver.Request) { r.Floor = math.MaxInt64 }, false},
		"after NotAfter": {func(r *driver.Request) { r.NotAfter = time.Now().Add(-1) }, true},
	} {
		s := memstore.NewServer().Store()
		r := request("a")
		c.alter(&r)
		_, err := s.Try(t.Context(), r)
		if !errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrTemporary) != c.temporary {
			t.Errorf("%s: %v; want %v, for now: %v", name, err, driver.ErrRefused, c.temporary)
		}
		if g, err := s.Try(t.Context(), request("b")); err != nil || g.Hold.Token != 1 {
			t.Errorf("%s: the next request got %+v, %v", name, g, err)
		}
	}
}

func TestNotAfterIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memstore.NewServer().Store()
		r := request("a")
		r.NotAfter = time.Now().Add(time.Second)
		<-time.After(time.Second)
		if _, err := s.Try(t.Context(), r); err != nil {
			t.Errorf("at NotAfter: %v", err)
		}
		<-time.After(1)
		if _, err := s.Try(t.Context(), r); !errors.Is(err, driver.ErrTemporary) {
			t.Errorf("just after NotAfter: %v", err)
		}
	})
}

func TestBreakTellsTheHolder(t *testing.T) {
	server := memstore.NewServer()
	s, operator := server.Store(), server.Store()
	var told []driver.Event
	s.(driver.Host).Attach(driver.ClientInfo{ID: "s"}, func(e driver.Event) {
		told = append(told, e)
		if _, err := s.Release(context.Background(), driver.Hold{Name: "n", Owner: "a"}); err != nil {
			t.Errorf("Release within an event: %v", err)
		}
	})
	revoke := func(owner string) {
		g, err := s.Try(t.Context(), request(owner))
		if err != nil {
			t.Fatalf("Try: %v", err)
		}
		if err := operator.(driver.Breaker).Break(t.Context(), "n", owner, g.Hold.Token, false); err != nil {
			t.Fatalf("Break: %v", err)
		}
	}
	revoke("a")
	if want := (driver.Event{Kind: driver.Revoked, Name: "n", Owner: "a"}); len(told) != 1 || told[0] != want {
		t.Errorf("told %v, want %v", told, want)
	}
	g, err := s.Try(t.Context(), request("b"))
	if err != nil {
		t.Fatalf("Try: %v", err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := operator.(driver.Breaker).Break(t.Context(), "n", "b", g.Hold.Token, false); err != nil {
		t.Errorf("Break of a closed client's hold: %v", err)
	}
	if len(told) != 1 {
		t.Errorf("told %v after Close", told[1:])
	}
}

func TestCloseWaitsForEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memstore.NewServer().Store()
		over := false
		s.(driver.Host).Attach(driver.ClientInfo{}, func(driver.Event) {
			<-time.After(time.Second)
			over = true
		})
		g, err := s.Try(t.Context(), request("a"))
		if err != nil {
			t.Fatalf("Try: %v", err)
		}
		go func() { _ = s.(driver.Breaker).Break(t.Context(), "n", "a", g.Hold.Token, true) }()
		synctest.Wait()
		if err := s.Close(t.Context()); err != nil || !over {
			t.Errorf("Close returned %v during an event: %v", err, !over)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("a second Close: %v", err)
		}
	})
}
