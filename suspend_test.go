package holdfast_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// machine is a machine that can be suspended: its own clock stands still while
// the store's goes on.
type machine struct{ slept atomic.Int64 }

func (m *machine) suspend(d time.Duration) { m.slept.Add(int64(d)) }

// onMachine runs f in a bubble with a client whose store runs on another machine.
func onMachine(t *testing.T, slept time.Duration, f func(w *world, a *client, m *machine)) {
	t.Helper()
	m := &machine{}
	m.suspend(slept)
	defer holdfast.SetAsleep(func() time.Duration { return time.Duration(m.slept.Load()) })()
	inBubble(t, func(w *world) {
		remote := withProfile{w.srv.Store(), func(p *driver.Profile) { p.Clock = driver.WallClock }}
		f(w, w.openOn(remote, nil), m)
	})
}

// Time spent in suspend counts: a check says so at once, and the context ends by
// the next tick, half of the margin.
func TestSuspendEndsLease(t *testing.T) {
	const tick = (ttl - lasts) / 2
	for _, c := range []struct {
		slept time.Duration
		held  bool
	}{
		{lasts - 2*time.Second - 1, true},
		{lasts - 2*time.Second, false},
		{time.Hour, false},
	} {
		t.Run(c.slept.String(), func(t *testing.T) {
			onMachine(t, 0, func(w *world, a *client, m *machine) {
				start := time.Now()
				noRenew := *nine
				noRenew.NoRenew = true
				checked := w.lock(a, "checked", &noRenew)
				waited := w.lock(a, "waited", &noRenew)
				w.sleepTo(start, 2*time.Second)
				m.suspend(c.slept)
				err := checked.Check()
				if held := err == nil; held != c.held {
					t.Errorf("check after %v of suspend: %v", c.slept, err)
				}
				if got := checked.Deadline().Sub(start); got != lasts-c.slept {
					t.Errorf("deadline at %v, want %v", got, lasts-c.slept)
				}
				<-waited.Context().Done()
				if late := time.Since(start.Add(2 * time.Second)); late > tick {
					t.Errorf("the context ended %v after the suspend, want at most %v", late, tick)
				}
				w.is(checked.Unlock(), holdfast.ErrLost)
				w.is(waited.Unlock(), holdfast.ErrLost)
			})
		})
	}
}

// A lease with a short tick is looked after as often as it needs, also when the
// renewer sleeps long for another one.
func TestSuspendBesideLongLease(t *testing.T) {
	onMachine(t, 0, func(w *world, a *client, m *machine) {
		long := w.lock(a, "long", &holdfast.MutexOptions{TTL: time.Hour})
		synctest.Wait() // the renewer sleeps
		short := w.lock(a, "short", &holdfast.MutexOptions{TTL: 20 * time.Minute, NoRenew: true, Margin: time.Second})
		synctest.Wait()
		m.suspend(time.Hour)
		start := time.Now()
		<-short.Context().Done()
		const tick = (12*time.Second + 2*time.Millisecond + time.Second) / 2
		if late := time.Since(start); late > tick {
			t.Errorf("the context ended %v after the suspend, want at most %v", late, tick)
		}
		w.is(long.Unlock(), holdfast.ErrLost)
		w.is(short.Unlock(), holdfast.ErrLost)
	})
}

// A short suspend makes a renewal due, no more.
func TestSuspendHastensRenewal(t *testing.T) {
	onMachine(t, 0, func(w *world, a *client, m *machine) {
		start := time.Now()
		l := w.lock(a, "k", nine)
		w.sleepTo(start, time.Second)
		m.suspend(third)
		w.sleepTo(start, 2*time.Second)
		renewals := a.calls(drivertest.Renew)
		if len(renewals) != 1 {
			t.Fatalf("%d renewals, want 1", len(renewals))
		}
		if got := l.Deadline().Sub(renewals[0].At); got != lasts {
			t.Errorf("deadline %v after the renewal, want %v", got, lasts)
		}
		w.unlock(l)
	})
}

// Sleep during a request counts against it.
func TestSuspendDuringRequest(t *testing.T) {
	const slept = 2 * time.Second
	onMachine(t, 0, func(w *world, a *client, m *machine) {
		start := time.Now()
		time.AfterFunc(time.Second, func() { m.suspend(slept) })
		a.net.Next(drivertest.Try, drivertest.Fault{After: 2 * time.Second})
		l := w.lock(a, "k", &holdfast.MutexOptions{TTL: ttl, NoRenew: true}) // a renewal is due at once
		if got := l.Deadline().Sub(start); got != lasts-slept {
			t.Errorf("deadline %v after sending, want %v", got, lasts-slept)
		}
		w.unlock(l)

		l = w.lock(a, "k", nine)
		a.net.Forget()
		slow := drivertest.Fault{After: 2 * time.Second}
		a.net.Next(drivertest.Renew, slow, slow) // the second is due when the first returns
		time.AfterFunc(third+time.Second, func() { m.suspend(slept) })
		time.Sleep(third + 2*time.Second)
		synctest.Wait()
		sent := a.calls(drivertest.Renew)[0].At
		if got := l.Deadline().Sub(sent); got != lasts-slept {
			t.Errorf("deadline %v after sending of the renewal, want %v", got, lasts-slept)
		}
		w.unlock(l)

		// So much sleep that the grant is of no use.
		time.AfterFunc(time.Second, func() { m.suspend(6 * time.Second) })
		a.net.Next(drivertest.Try, drivertest.Fault{After: 2 * time.Second})
		_, err := a.Mutex("k", nine).TryLock(w.Context())
		w.is(err, holdfast.ErrUnavailable)
	})
}

// What the machine slept before the grant does not matter.
func TestSuspendBefore(t *testing.T) {
	onMachine(t, 1000*time.Hour, func(w *world, a *client, m *machine) {
		start := time.Now()
		l := w.lock(a, "k", nine)
		if got := l.Deadline().Sub(start); got != lasts {
			t.Errorf("deadline %v after sending, want %v", got, lasts)
		}
		a.net.Partition(driver.ErrUnavailable)
		w.ended(l, start, lasts, holdfast.ErrLost)
		a.net.Heal()
		w.is(l.Unlock(), holdfast.ErrLost)

		start = time.Now()
		l = w.lock(a, "k2", &holdfast.MutexOptions{TTL: ttl, MaxHold: time.Minute})
		m.suspend(time.Second)
		w.ended(l, start, 59*time.Second, holdfast.ErrMaxHold)
		w.unlock(l)
	})
}

// A store on this machine sleeps with it, so that its holds lose nothing.
func TestSuspendOfSharedClock(t *testing.T) {
	defer holdfast.SetAsleep(func() time.Duration { return time.Duration(time.Now().UnixNano()) })()
	inBubble(t, func(w *world) {
		a := w.open(nil)
		start := time.Now()
		l := w.lock(a, "k", nine)
		time.Sleep(time.Hour + time.Second)
		if err := l.Check(); err != nil {
			t.Error(err)
		}
		if n := len(a.calls(drivertest.Renew)); n != 1200 {
			t.Errorf("%d renewals in an hour, want 1,200", n)
		}
		a.net.Partition(driver.ErrUnavailable)
		at := l.Deadline()
		w.ended(l, start, at.Sub(start), holdfast.ErrLost)
		a.net.Heal()
		if err := l.Unlock(); !errors.Is(err, holdfast.ErrLost) {
			t.Error(err)
		}
	})
}

// A renewal that was confirmed before a long suspend extends nothing after it.
func TestSuspendDuringExtend(t *testing.T) {
	onMachine(t, 0, func(w *world, a *client, m *machine) {
		l := w.lock(a, "k", nil)
		a.net.Next(drivertest.Renew, drivertest.Fault{After: time.Second}) // before the next tick
		extended := make(chan error)
		go func() { extended <- l.Extend(w.Context(), time.Minute) }()
		synctest.Wait()
		m.suspend(time.Hour)
		w.is(<-extended, holdfast.ErrLost)
		w.is(l.Unlock(), holdfast.ErrLost)
	})
}
