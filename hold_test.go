package holdfast_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// AtLeast keeps the name taken for a time that counts from the reply of the
// grant, however early the Unlock.
func TestAtLeast(t *testing.T) {
	const least = time.Minute
	inBubble(t, func(w *world) {
		a, b := w.open(nil), w.open(nil)
		w.contact(b)
		a.net.Next(drivertest.Try, drivertest.Fault{After: 2 * time.Second})
		l := w.lock(a, "k", &holdfast.MutexOptions{AtLeast: least})
		granted := time.Now()
		if got := a.calls(drivertest.Try)[0].Request.TTL; got != least {
			t.Errorf("asked for a TTL of %v, want %v", got, least)
		}
		w.sleepTo(granted, 10*time.Second)
		w.unlock(l)
		w.is(l.Check(), holdfast.ErrNotHeld)

		_, err := b.Mutex("k", nil).TryLock(w.Context())
		var held *holdfast.HeldError
		if !errors.As(err, &held) || !held.Resting || !held.Until.Equal(granted.Add(least)) {
			t.Errorf("TryLock: %+v, want resting until a minute after the grant", err)
		}
		if h, err := b.Holder(w.Context(), "k"); err != nil || !h.Resting || !h.Until.Equal(granted.Add(least)) {
			t.Errorf("Holder: %+v, %v", h, err)
		}
		for _, c := range []*client{a, b} { // the last holder itself is kept out, too
			if _, err := c.Mutex("k", nil).TryLock(w.Context()); !errors.Is(err, holdfast.ErrHeld) {
				t.Errorf("TryLock: %v", err)
			}
		}
		next := w.lock(b, "k", nil)
		if got := time.Since(granted); got != least {
			t.Errorf("the name was taken for %v, want %v", got, least)
		}
		w.unlock(next)
	})
}

// When the work takes longer than AtLeast, it changes nothing.
func TestAtLeastLongWork(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		l := w.lock(a, "k", &holdfast.MutexOptions{AtLeast: time.Minute})
		time.Sleep(time.Hour)
		w.unlock(l)
		if !w.free("k") {
			t.Error("not free after Unlock")
		}
	})
}

// A release that is confirmed late does not make the name rest longer, and a
// repeated one changes nothing.
func TestAtLeastConfirmedLate(t *testing.T) {
	const least = time.Minute
	for name, first := range map[string]drivertest.Fault{"request": lostRequest, "reply": lostReply()} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				a, b := w.open(nil), w.open(nil)
				w.contact(b)
				granted := time.Now()
				l := w.lock(a, "k", &holdfast.MutexOptions{AtLeast: least})
				w.sleepTo(granted, time.Second)
				a.net.Next(drivertest.Release, first)
				a.net.Plan(func(c drivertest.Call) drivertest.Fault {
					if time.Since(granted) < 30*time.Second && c.Method == drivertest.Release {
						return lostRequest
					}
					return drivertest.Fault{}
				})
				w.is(l.Unlock(), holdfast.ErrUnavailable)
				w.unlock(w.lock(b, "k", &holdfast.MutexOptions{TTL: time.Second}))
				if got := time.Since(granted); got != least {
					t.Errorf("the name was taken for %v, want %v", got, least)
				}
			})
		})
	}
}

// A grant that nobody wanted any more does not rest.
func TestAtLeastGivenBack(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		w.contact(a)
		a.net.Next(drivertest.Try, drivertest.Fault{After: 2 * time.Second})
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		_, err := a.Mutex("k", &holdfast.MutexOptions{AtLeast: time.Minute}).Lock(ctx)
		w.is(err, context.DeadlineExceeded)
		time.Sleep(time.Second)
		synctest.Wait()
		if !w.free("k") {
			t.Error("a grant that was given back rests")
		}
	})
}

// MaxHold ends the lease at its time to the nanosecond, though not the hold: the
// name stays taken until Unlock or the end of the TTL.
func TestMaxHold(t *testing.T) {
	const most = 20 * time.Second
	inBubble(t, func(w *world) {
		a := w.open(nil)
		a.net.Next(drivertest.Try, drivertest.Fault{After: time.Second})
		opts := &holdfast.MutexOptions{TTL: ttl, MaxHold: most}
		l := w.lock(a, "k", opts)
		granted := time.Now()
		w.ended(l, granted, most, holdfast.ErrMaxHold)
		if w.free("k") {
			t.Error("free at MaxHold: the holder had no time to stop")
		}
		w.unlock(l)
		w.is(context.Cause(l.Context()), holdfast.ErrMaxHold)

		l = w.lock(a, "k", opts)
		granted = time.Now()
		w.sleepTo(granted, most)
		renewals := a.calls(drivertest.Renew)
		until := renewals[len(renewals)-1].At.Add(ttl)
		w.sleepTo(granted, until.Sub(granted)-1)
		if w.free("k") {
			t.Error("free before the end of the TTL")
		}
		w.sleepTo(granted, until.Sub(granted))
		if !w.free("k") {
			t.Error("taken after the end of the TTL: renewal goes on after MaxHold")
		}
		w.is(l.Unlock(), holdfast.ErrLost)
	})
}

// MaxHold beyond the deadline changes nothing.
func TestMaxHoldAfterLoss(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		start := time.Now()
		l := w.lock(a, "k", &holdfast.MutexOptions{TTL: ttl, NoRenew: true, MaxHold: lasts + 1})
		w.ended(l, start, lasts, holdfast.ErrLost)
	})
}

// Without renewal the lease lasts one TTL.
func TestNoRenew(t *testing.T) {
	inBubble(t, func(w *world) {
		a, b := w.open(nil), w.open(nil)
		w.contact(b)
		start := time.Now()
		l := w.lock(a, "k", &holdfast.MutexOptions{TTL: ttl, NoRenew: true})
		w.ended(l, start, lasts, holdfast.ErrLost)
		next := w.lock(b, "k", nil)
		if got := time.Since(start); got != ttl {
			t.Errorf("the next holder entered after %v, want %v", got, ttl)
		}
		if n := len(a.calls(drivertest.Renew)); n > 0 {
			t.Errorf("%d renewals", n)
		}
		w.is(l.Unlock(), holdfast.ErrLost)
		time.Sleep(time.Minute)
		w.unlock(next) // untouched by the late release
	})
}

// Margin replaces the time to stop; drift is added.
func TestMargin(t *testing.T) {
	for _, c := range []struct {
		ttl, margin, lasts time.Duration
		drift              float64
	}{
		{ttl: 0, margin: 0, lasts: 30*time.Second - 300*time.Millisecond - 2*time.Millisecond - 3*time.Second},
		{ttl: 10 * time.Second, margin: 4 * time.Second, lasts: 5898 * time.Millisecond},
		{ttl: 10 * time.Second, margin: time.Nanosecond, lasts: 9898*time.Millisecond - 1},
		{ttl: 10 * time.Second, margin: 4898 * time.Millisecond, lasts: 5 * time.Second},
		{ttl: 10 * time.Second, margin: time.Second, drift: 0.1, lasts: 7998 * time.Millisecond},
		{ttl: 2 * time.Millisecond, margin: 0, lasts: time.Millisecond}, // half at least
	} {
		inBubble(t, func(w *world) {
			a := w.open(&holdfast.Options{Drift: c.drift})
			start := time.Now()
			l := w.lock(a, "k", &holdfast.MutexOptions{TTL: c.ttl, Margin: c.margin})
			if got := l.Deadline().Sub(start); got != c.lasts {
				t.Errorf("TTL %v, Margin %v: the lease lasts %v, want %v", c.ttl, c.margin, got, c.lasts)
			}
			w.unlock(l)
		})
	}
}

// The error is true at the very instant of the deadline, before any timer has
// cancelled anything.
func TestErrAtDeadline(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		start := time.Now()
		l := w.lock(a, "k", &holdfast.MutexOptions{TTL: ttl, NoRenew: true})
		bound := l.Bind(w.Context())
		time.Sleep(time.Until(start.Add(lasts - 1)))
		if l.Check() != nil || l.Context().Err() != nil || bound.Err() != nil {
			t.Errorf("ended a nanosecond before the deadline: %v", l.Check())
		}
		time.Sleep(time.Nanosecond) // not Wait: whether the renewer ran before us is left to chance
		w.is(l.Context().Err(), context.Canceled)
		w.is(bound.Err(), context.Canceled)
		w.is(context.Cause(bound), holdfast.ErrLost)
		w.is(l.Check(), holdfast.ErrLost)
		if _, ok := holdfast.FromContext(l.Context(), "k"); ok {
			t.Error("FromContext returns an ended lease")
		}
	})
}

// A process that was stopped past the deadline learns of it at its next check,
// though none of its timers has run: here the renewer is kept from running.
func TestStoppedProcess(t *testing.T) {
	inBubble(t, func(w *world) {
		stopped, resume := make(chan bool), make(chan bool)
		first := true
		observe := func(_ context.Context, e holdfast.Event) {
			if e.Kind == holdfast.RenewalFailed || e.Kind == holdfast.Lost && e.Name == "first" {
				if first {
					first = false
					close(stopped)
					<-resume
				}
			}
		}
		s := drivertest.NewFaulty(w.srv.Store())
		a, err := holdfast.New(s, &holdfast.Options{Observer: observe})
		if err != nil {
			t.Fatal(err)
		}
		lock := func(name string, ttl time.Duration) *holdfast.Lease {
			l, err := a.Mutex(name, &holdfast.MutexOptions{TTL: ttl, NoRenew: true}).Lock(w.Context())
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		lock("first", time.Second)
		l := lock("k", ttl)
		child, cancel := context.WithCancel(l.Context())
		defer cancel()
		<-stopped // the renewer's goroutine tells of the first loss, and stays there
		time.Sleep(ttl)
		synctest.Wait()
		select {
		case <-l.Context().Done():
			t.Fatal("the renewer was not stopped: this test shows nothing")
		default:
		}
		if child.Err() != nil {
			t.Error("a derived context ended without a timer")
		}
		w.is(l.Context().Err(), context.Canceled)
		w.is(context.Cause(l.Context()), holdfast.ErrLost)
		w.is(l.Check(), holdfast.ErrLost)
		w.is(child.Err(), context.Canceled) // the check told it
		w.is(l.Unlock(), holdfast.ErrLost)
		close(resume)
		if err := a.Close(w.Context()); err != nil {
			t.Error(err)
		}
	})
}

// What the store granted counts, not what it was asked for.
func TestStoreGrantsLess(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.openOn(stingy{w.srv.Store()}, nil)
		start := time.Now()
		l := w.lock(a, "k", &holdfast.MutexOptions{TTL: ttl, NoRenew: true})
		w.ended(l, start, 6*time.Second-60*time.Millisecond-2*time.Millisecond-900*time.Millisecond, holdfast.ErrLost)
	})
}

// It is renewed every third of what the store gives.
func TestStoreConfirmsLess(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.openOn(stingy{w.srv.Store()}, nil)
		l := w.lock(a, "k", nine)
		time.Sleep(time.Minute + time.Second)
		if n := len(a.calls(drivertest.Renew)); n != 30 || l.Check() != nil {
			t.Errorf("%d renewals in a minute, want one every 2 s; %v", n, l.Check())
		}
		w.unlock(l)
	})
}

// stingy gives two thirds of the TTL that it is asked for.
type stingy struct{ driver.Store }

func (s stingy) Try(ctx context.Context, r driver.Request) (driver.Grant, error) {
	r.TTL = r.TTL * 2 / 3
	return s.Store.Try(ctx, r)
}

func (s stingy) Renew(ctx context.Context, hs []driver.Hold, done func(int, driver.Validity, error)) {
	less := slices.Clone(hs)
	for i := range less {
		less[i].TTL = less[i].TTL * 2 / 3
	}
	s.Store.Renew(ctx, less, done)
}

// A store that confirms the same heartbeat again and again is asked in intervals,
// and its lease ends when that is too old.
func TestSessionStandsStill(t *testing.T) {
	inBubble(t, func(w *world) {
		start := time.Now()
		s := &still{Store: w.srv.Store(), sent: start}
		a, err := holdfast.New(s, nil) // without a network, which would know better
		if err != nil {
			t.Fatal(err)
		}
		l, err := a.Mutex("k", nine).Lock(w.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.ended(l, start, lasts, holdfast.ErrLost)
		if s.renewals < 10 || s.renewals > 20 {
			t.Errorf("%d renewals in %v, want about one every 300 ms", s.renewals, lasts-third)
		}
		if err := a.Close(w.Context()); err != nil {
			t.Error(err)
		}
	})
}

// still is a session whose last heartbeat was sent at a given time.
type still struct {
	driver.Store
	sent     time.Time
	renewals int
}

func (s *still) Renew(_ context.Context, hs []driver.Hold, done func(int, driver.Validity, error)) {
	s.renewals++
	for i := range hs {
		done(i, driver.Validity{Sent: s.sent, TTL: ttl}, nil)
	}
}
