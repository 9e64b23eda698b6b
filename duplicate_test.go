package holdfast_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// A copy of an acquire takes the name for nobody when it arrives after the
// release. Past NotAfter the store refuses it; before, the client releases once
// more at NotAfter.
func TestAcquireArrivesAfterRelease(t *testing.T) {
	for _, c := range []struct {
		name  string
		copy  time.Duration // when it arrives
		deaf  bool
		ghost bool
	}{
		{"in time", time.Second, false, true},
		{"in time at a deaf store", time.Second, true, true},
		{"too late", 3500 * time.Millisecond, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				s := w.srv.Store()
				if c.deaf {
					s = deaf{s}
				}
				a := w.openOn(s, nil)
				w.contact(a)
				start := time.Now()
				a.net.Next(drivertest.Try, lostReply(c.copy))
				l := w.lock(a, "k", nil)
				w.sleepTo(start, 500*time.Millisecond)
				w.unlock(l)
				if !w.free("k") {
					t.Error("not free after the release")
				}
				w.sleepTo(start, c.copy+time.Millisecond)
				if free := w.free("k"); free == c.ghost {
					t.Errorf("free = %v after the copy, want %v", free, !c.ghost)
				}
				w.sleepTo(start, 3*time.Second+time.Millisecond)
				if n := len(a.events.of(holdfast.GivenBack)); c.ghost && n != 1 {
					t.Errorf("%d grants were given back, want 1", n)
				}
				w.sleepTo(start, 4*time.Second)
				if !w.free("k") {
					t.Error("the copy took the name for nobody")
				}
				releases := a.calls(drivertest.Release)
				if last := releases[len(releases)-1].At.Sub(start); last != 3*time.Second {
					t.Errorf("the last release left after %v, want NotAfter: 3s", last)
				}
			})
		})
	}
}

// Neither the copy of an acquire nor the release that follows it touches the
// next holder.
func TestAcquireArrivesAtNextHolder(t *testing.T) {
	inBubble(t, func(w *world) {
		a, b := w.open(nil), w.open(nil)
		w.contact(a)
		a.net.Next(drivertest.Try, lostReply(time.Second))
		w.unlock(w.lock(a, "k", nil))
		l := w.lock(b, "k", nil)
		time.Sleep(time.Hour)
		if err := l.Check(); err != nil {
			t.Error(err)
		}
		if a.GiveBacks() > 0 || w.free("k") {
			t.Errorf("%d give-backs are left, free = %v", a.GiveBacks(), w.free("k"))
		}
		w.unlock(l)
	})
}

// A renewal that arrives after an extension takes nothing away from it.
func TestRenewalArrivesAfterExtend(t *testing.T) {
	for name, fault := range map[string]drivertest.Fault{
		"copy":    {Again: []time.Duration{5 * time.Second}},
		"delayed": {Before: 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				a := w.open(nil)
				start := time.Now()
				l := w.lock(a, "k", nil)
				a.net.Next(drivertest.Renew, fault)
				w.sleepTo(start, 14*time.Second)
				if err := l.Extend(w.Context(), 300*time.Second); err != nil {
					t.Fatal(err)
				}
				until := l.Deadline()
				if least := start.Add(314 * time.Second); until.Before(least) {
					t.Errorf("deadline %v, want at least 314s", until.Sub(start))
				}
				w.sleepTo(start, 16*time.Second) // the renewal has arrived
				a.net.Partition(nil)
				if got := l.Deadline(); !got.Equal(until) {
					t.Errorf("deadline moved by %v", got.Sub(until))
				}
				time.Sleep(time.Until(until) - 1)
				if err := l.Check(); err != nil || w.free("k") {
					t.Errorf("just before the deadline: %v, free = %v", err, w.free("k"))
				}
				a.net.Heal()
			})
		})
	}
}

// A release that arrives after the next acquire touches nobody, even when the
// next holder is the same client.
func TestReleaseArrivesAfterNextAcquire(t *testing.T) {
	for _, same := range []bool{true, false} {
		inBubble(t, func(w *world) {
			a := w.open(nil)
			next := a
			if !same {
				next = w.open(nil)
			}
			first := w.lock(a, "k", nil)
			a.net.Next(drivertest.Release, drivertest.Fault{Again: []time.Duration{time.Second, 20 * time.Second}})
			w.unlock(first)
			l := w.lock(next, "k", nil)
			time.Sleep(time.Minute)
			if err := l.Check(); err != nil || w.free("k") {
				t.Errorf("after the copies: %v, free = %v", err, w.free("k"))
			}
			w.unlock(l)
		})
	}
}

// An Unlock without an answer may be repeated. It tells a release from a loss by
// the token.
func TestUnlockAgain(t *testing.T) {
	enter := func(leave bool) func(*world) {
		return func(w *world) {
			l := w.lock(w.open(nil), "k", &holdfast.MutexOptions{TTL: time.Hour})
			if leave {
				w.unlock(l)
			}
		}
	}
	for _, c := range []struct {
		name    string
		first   drivertest.Fault
		between func(*world) // before any release gets an answer
		after   func(*world) // when the background's release was answered
		want    error
	}{
		{name: "reply lost", first: lostReply()},
		{name: "request lost", first: lostRequest},
		{name: "reply lost, another entered", first: lostReply(), between: enter(false), want: holdfast.ErrUnknown},
		{name: "reply lost, another came and went", first: lostReply(), between: enter(true), want: holdfast.ErrUnknown},
		{name: "confirmed in the background", first: lostReply(), after: enter(false)},
		{name: "confirmed after expiry", first: lostRequest, between: func(*world) { time.Sleep(time.Minute) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				a := w.open(nil)
				l := w.lock(a, "k", nil)
				var cut atomic.Bool
				cut.Store(true)
				a.net.Next(drivertest.Release, c.first)
				a.net.Plan(func(call drivertest.Call) drivertest.Fault {
					if cut.Load() && call.Method == drivertest.Release {
						return lostRequest
					}
					return drivertest.Fault{}
				})
				w.is(l.Unlock(), holdfast.ErrUnavailable)
				if c.between != nil {
					c.between(w)
				}
				cut.Store(false)
				if c.after != nil {
					time.Sleep(2 * time.Second)
					c.after(w)
				}
				if err := l.Unlock(); c.want == nil && err != nil {
					t.Errorf("second Unlock: %v", err)
				} else if c.want != nil {
					w.is(err, c.want)
				}
				w.is(l.Unlock(), holdfast.ErrNotHeld)
			})
		})
	}
}

// The first release of a hold that the store does not have means loss.
func TestUnlockFindsNothing(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		l := w.lock(a, "k", nil)
		w.lose(a, "k")
		w.is(l.Unlock(), holdfast.ErrLost)
		w.is(l.Unlock(), holdfast.ErrNotHeld)
		if n := len(a.events.of(holdfast.Lost)); n > 0 {
			t.Errorf("%d losses were told after Unlock began", n)
		}
	})
}

// The background goes on with a release that Unlock could not confirm until it
// is confirmed, and forgets it when the TTL has ended the hold anyway.
func TestReleaseInBackground(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		l := w.lock(a, "k", nil)
		a.net.Partition(driver.ErrUnavailable)
		w.is(l.Unlock(), holdfast.ErrUnavailable)
		time.Sleep(5 * time.Second)
		a.net.Heal()
		time.Sleep(2 * time.Second)
		if !w.free("k") || a.GiveBacks() > 0 {
			t.Errorf("free = %v, %d give-backs are left", w.free("k"), a.GiveBacks())
		}
		l = w.lock(a, "k", nil)
		a.net.Partition(driver.ErrUnavailable)
		w.is(l.Unlock(), holdfast.ErrUnavailable)
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if n := a.GiveBacks(); n > 0 {
			t.Errorf("%d give-backs are left after the TTL", n)
		}
	})
}
