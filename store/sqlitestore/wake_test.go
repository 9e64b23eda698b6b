//go:build linux || darwin || freebsd

package sqlitestore

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

func private(t *testing.T) place {
	t.Helper()
	p := place{dir: filepath.Join(t.TempDir(), "locks")}
	if err := p.prepare(); err != nil {
		t.Fatal(err)
	}
	return p
}

// heard waits for a signal, much longer than one takes.
func heard(t *testing.T, c <-chan struct{}) bool {
	t.Helper()
	select {
	case <-c:
		return true
	case <-time.After(5 * time.Second):
		return false
	}
}

func silent(c <-chan struct{}) bool {
	select {
	case <-c:
		return false
	default:
		return true
	}
}

func newTestHub(t *testing.T, p place) *hub {
	t.Helper()
	h := newHub(p.dir, "client-own", func() {}, func(driver.Event) {})
	t.Cleanup(h.close)
	if !h.start() {
		t.Skip("this system has no inotify: waiters poll")
	}
	return h
}

func TestTouchIsHeard(t *testing.T) {
	p := private(t)
	h := newTestHub(t, p)
	n, m := h.listen(bucket("n")), h.listen(bucket("m"))
	if n.bucket == m.bucket {
		t.Fatal("the names of this test share a bucket")
	}
	for range 3 { // made, and touched again
		p.touch(n.bucket)
		if !heard(t, n.signal) {
			t.Fatal("a touch was not heard")
		}
	}
	if !silent(m.signal) || !silent(n.death) {
		t.Error("a touch was heard by the wrong listener")
	}
	h.mute(n)
	h.mute(m)
	if len(h.listeners) > 0 {
		t.Errorf("listeners are left: %v", h.listeners)
	}
}

func TestDeathIsHeard(t *testing.T) {
	p := private(t)
	h := newTestHub(t, p)
	l, err := p.live()
	if err != nil {
		t.Fatal(err)
	}
	e := h.listen(bucket("n"))
	h.follow(e, liveFile(l.id))
	// Looking at it is not heard.
	if p.isDead(l.id) {
		t.Fatal("a living client is dead")
	}
	p.touch(bucket("n"))
	if !heard(t, e.signal) || !silent(e.death) {
		t.Fatal("a look at a living client was heard as its death")
	}
	if err := l.file.Close(); err != nil {
		t.Fatal(err)
	}
	if !heard(t, e.death) {
		t.Fatal("a death was not heard")
	}
	if !p.isDead(l.id) {
		t.Error("a dead client lives")
	}
}

func TestFolderGoneIsHeard(t *testing.T) {
	p := private(t)
	h := newTestHub(t, p)
	e := h.listen(bucket("n"))
	if err := os.RemoveAll(p.dir); err != nil {
		t.Fatal(err)
	}
	if !heard(t, e.signal) {
		t.Fatal("the end of the folder was not heard")
	}
}

// TestPolling: without a watch the same calls work, by looking.
func TestPolling(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locks")
	a, b := testStore(t, dir), testStore(t, dir)
	g := mustTry(t, a, "n", time.Hour)
	st, err := b.session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	st.hub.close() // never to start again
	busy := mustNotTry(t, b, "n")
	done := make(chan error)
	go func() { done <- b.Wait(t.Context(), ask("n", time.Minute), busy) }()
	if _, err := a.Release(t.Context(), g.Hold); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the waiter did not look")
	}
}

// TestSignals: whatever frees a name wakes who waits for it in another client.
func TestSignals(t *testing.T) {
	for name, free := range map[string]func(t *testing.T, s *Store, h driver.Hold) error{
		"release": func(t *testing.T, s *Store, h driver.Hold) error {
			_, err := s.Release(t.Context(), h)
			return err
		},
		"rest": func(t *testing.T, s *Store, h driver.Hold) error {
			h.Rest = time.Minute
			_, err := s.Release(t.Context(), h)
			return err
		},
		"break": func(t *testing.T, s *Store, h driver.Hold) error {
			return s.Break(t.Context(), h.Name, h.Owner, h.Token, true)
		},
		"break of a rest": func(t *testing.T, s *Store, h driver.Hold) error {
			change(t, s, "UPDATE holds SET state = 3, client = NULL")
			return s.Break(t.Context(), h.Name, h.Owner, h.Token, true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "locks")
			a, b := testStore(t, dir), testStore(t, dir)
			b.NeverLook()
			g := mustTry(t, a, "n", time.Hour)
			busy := mustNotTry(t, b, "n")
			done := make(chan error)
			go func() { done <- b.Wait(t.Context(), ask("n", time.Minute), busy) }()
			for number(t, a, "SELECT count(*) FROM waiters") == 0 {
				runtime.Gosched()
			}
			if err := free(t, a, g.Hold); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-done:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(5 * time.Second):
				t.Error("the waiter was not woken")
			}
		})
	}
}

// TestBreakIsPushed: the holder hears of a forced release before it renews.
func TestBreakIsPushed(t *testing.T) {
	for name, now := range map[string]bool{"revoke": false, "now": true} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "locks")
			told := make(chan driver.Event, 10)
			a, b := testStore(t, dir), testStore(t, dir)
			a.Attach(driver.ClientInfo{ID: "a"}, func(e driver.Event) { told <- e })
			g := mustTry(t, a, "n", time.Hour)
			a.Renew(t.Context(), []driver.Hold{g.Hold}, func(_ int, _ driver.Validity, err error) {
				if err != nil {
					t.Fatal(err)
				}
			})
			if err := b.Break(t.Context(), "n", g.Hold.Owner, g.Hold.Token, now); err != nil {
				t.Fatal(err)
			}
			want := driver.Event{Kind: driver.Revoked, Name: "n", Owner: g.Hold.Owner}
			select {
			case e := <-told:
				if e != want {
					t.Errorf("it was told %+v, want %+v", e, want)
				}
			case <-time.After(5 * time.Second):
				t.Error("it was told nothing")
			}
		})
	}
}

// TestLivenessRace makes clients while others take any unlocked file for that of
// a dead one.
func TestLivenessRace(t *testing.T) {
	p := private(t)
	ctx, cancel := context.WithCancel(t.Context())
	var reapers sync.WaitGroup
	for range 4 {
		reapers.Go(func() {
			for ctx.Err() == nil {
				ids, _ := p.ids()
				for _, id := range ids {
					if c := p.dead(id); c != nil {
						c.remove()
					}
				}
			}
		})
	}
	var alive []*liveness
	for range 500 {
		l, err := p.live()
		if err != nil {
			t.Fatal(err)
		}
		if alive = append(alive, l); len(alive) > 20 {
			alive[0].discard()
			alive = alive[1:]
		}
		for _, l := range alive {
			if !inPlace(l.file) || p.isDead(l.id) {
				t.Fatal("a living client was buried")
			}
		}
	}
	cancel()
	reapers.Wait()
	for _, l := range alive {
		l.discard()
	}
}

func testStore(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := NewStore(&Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}
