package holdfast_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// kinds are the kinds of events heard so far, in order.
func (e *events) kinds() []holdfast.EventKind {
	e.mu.Lock()
	defer e.mu.Unlock()
	var r []holdfast.EventKind
	for _, ev := range e.all {
		r = append(r, ev.Kind)
	}
	return r
}

// heard fails the test unless c's observer heard exactly these events since the
// last call.
func (w *world) heard(c *client, want ...holdfast.EventKind) []holdfast.Event {
	w.Helper()
	synctest.Wait()
	if got := c.events.kinds(); !slices.Equal(got, want) {
		w.Fatalf("heard %v, want %v", got, want)
	}
	c.events.mu.Lock()
	defer c.events.mu.Unlock()
	all := c.events.all
	c.events.all = nil
	return all
}

// A lock and its unlock are told with who, what, and how long.
func TestEventsOfLock(t *testing.T) {
	inBubble(t, func(w *world) {
		a, b := w.open(nil), w.open(nil)
		l := w.lock(a, "k", nil)
		time.AfterFunc(5*time.Second, func() { w.unlock(l) })
		l2 := w.lock(b, "k", nil)
		time.Sleep(time.Second)
		w.unlock(l2)
		w.is(l2.Unlock(), holdfast.ErrNotHeld)

		mine := w.heard(a, holdfast.Acquired, holdfast.Released, holdfast.StoodBack)
		if e := mine[0]; e.Name != "k" || e.Token != l.Token() || e.Owner != a.ID()[:8] || e.Waited != 0 || e.Err != nil {
			t.Errorf("acquired: %+v", e)
		}
		if e := mine[1]; e.Name != "k" || e.Token != l.Token() || e.Held != 5*time.Second || e.Err != nil {
			t.Errorf("released: %+v", e)
		}
		theirs := w.heard(b, holdfast.Acquired, holdfast.Released)
		if e := theirs[0]; e.Token != l2.Token() || e.Waited != 5*time.Second {
			t.Errorf("acquired: %+v", e)
		}
		if e := theirs[1]; e.Held != time.Second {
			t.Errorf("released: %+v", e)
		}
	})
}

// A call that gives up is told with the error that it returns.
func TestEventsOfFailure(t *testing.T) {
	inBubble(t, func(w *world) {
		a, b := w.open(nil), w.open(nil)
		l := w.lock(a, "k", nil)
		_, err := b.Mutex("k", nil).TryLock(w.Context())
		if e := w.heard(b, holdfast.Waited)[0]; e.Err != err || e.Waited != 0 || e.Name != "k" {
			t.Errorf("%+v, want %v", e, err)
		}
		_, err = b.Mutex("k", &holdfast.MutexOptions{Wait: time.Second}).Lock(w.Context())
		if e := w.heard(b, holdfast.Waited)[0]; e.Err != err || e.Waited != time.Second {
			t.Errorf("%+v, want %v", e, err)
		}
		w.unlock(l)
	})
}

// The observer gets the values of the context that took the lock.
func TestObserverContext(t *testing.T) {
	inBubble(t, func(w *world) {
		var mu sync.Mutex // guards heard
		heard := map[holdfast.EventKind]any{}
		s := drivertest.NewFaulty(w.srv.Store())
		c, err := holdfast.New(s, &holdfast.Options{Observer: func(ctx context.Context, e holdfast.Event) {
			mu.Lock()
			defer mu.Unlock()
			heard[e.Kind] = ctx.Value(valueKey{})
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.WithValue(w.Context(), valueKey{}, "v"))
		l, err := c.Mutex("k", nine).Lock(ctx)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		s.Partition(driver.ErrUnavailable)
		time.Sleep(ttl)
		synctest.Wait()
		l.Unlock()
		for _, kind := range []holdfast.EventKind{holdfast.Acquired, holdfast.RenewalFailed, holdfast.Lost, holdfast.Released} {
			if heard[kind] != "v" {
				t.Errorf("%v: value %v", kind, heard[kind])
			}
		}
		s.Heal()
		if err := c.Close(w.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Each end of a lease before its Unlock is told once, with its cause, and the
// Unlock says what the caller is told.
func TestEventsOfLoss(t *testing.T) {
	for _, c := range []struct {
		name   string
		opts   *holdfast.MutexOptions
		at     time.Duration // by when it has ended
		end    func(w *world, a *client)
		cause  error
		unlock error
	}{
		{"deadline", &holdfast.MutexOptions{TTL: ttl, NoRenew: true}, lasts, func(*world, *client) {}, holdfast.ErrLost, holdfast.ErrLost},
		{"gone", nine, third, func(w *world, a *client) { w.lose(a, "k") }, holdfast.ErrLost, holdfast.ErrLost},
		{"MaxHold", &holdfast.MutexOptions{TTL: ttl, MaxHold: lasts}, lasts, func(*world, *client) {}, holdfast.ErrMaxHold, nil},
		{"closed", nine, 0, func(w *world, a *client) { closing(a, w.Context()) }, holdfast.ErrClosed, nil},
		{"revoked", nine, 0, func(w *world, a *client) {
			a.net.Break(w.Context(), "k", a.calls(drivertest.Try)[0].Owner, 1, false)
		}, holdfast.ErrRevoked, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				a := w.open(nil)
				start := time.Now()
				l := w.lock(a, "k", c.opts)
				c.end(w, a)
				w.sleepTo(start, c.at)
				lost := w.heard(a, holdfast.Acquired, holdfast.Lost)[1]
				if !errors.Is(lost.Err, c.cause) || lost.Token != l.Token() || lost.Held != c.at {
					t.Errorf("%+v, want %v", lost, c.cause)
				}
				err := l.Unlock()
				if !errors.Is(err, c.unlock) {
					t.Errorf("Unlock: %v, want %v", err, c.unlock)
				}
				time.Sleep(time.Minute)
				if e := w.heard(a, holdfast.Released)[0]; !errors.Is(err, e.Err) {
					t.Errorf("told %v, returned %v", e.Err, err)
				}
			})
		})
	}
}

// Nothing is a loss once Unlock has begun: not a renewal that comes back with
// nothing, nor the deadline that passes meanwhile.
func TestNoLossAfterUnlock(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		const rounds = 500
		for range rounds {
			start := time.Now()
			l := w.lock(a, "k", nine)
			a.net.Plan(func(c drivertest.Call) drivertest.Fault {
				return drivertest.Fault{Before: rand.N(5 * time.Millisecond), After: rand.N(5 * time.Millisecond)}
			})
			time.Sleep(time.Until(start.Add(third - 5*time.Millisecond + rand.N(15*time.Millisecond))))
			w.unlock(l)
			if n := len(a.events.of(holdfast.Lost)); n > 0 {
				t.Fatalf("%d losses were told", n)
			}
		}
		if met := len(a.calls(drivertest.Renew)); met == 0 || met == rounds {
			t.Errorf("%d of %d rounds met a renewal: this test shows nothing", met, rounds)
		}
		a.net.Plan(nil)
		time.Sleep(time.Minute)
		w.heardNone(a, holdfast.Lost, holdfast.RenewalFailed, holdfast.RenewedLate, holdfast.GivenBack)
	})
}

// An Unlock that waits for a dead store past the deadline tells of no loss, and
// stops the renewals at once.
func TestUnlockPastDeadline(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		start := time.Now()
		l := w.lock(a, "k", &holdfast.MutexOptions{TTL: ttl, NoRenew: true})
		a.net.Partition(nil)
		w.sleepTo(start, lasts-time.Second)
		w.is(l.Unlock(), holdfast.ErrUnavailable)
		time.Sleep(time.Minute)
		w.heard(a, holdfast.Acquired, holdfast.Released)
		if n := len(a.calls(drivertest.Renew)); n > 0 {
			t.Errorf("%d renewals", n)
		}
		a.net.Heal()
	})
}

func (w *world) heardNone(c *client, kinds ...holdfast.EventKind) {
	w.Helper()
	synctest.Wait()
	for _, kind := range kinds {
		if es := c.events.of(kind); len(es) > 0 {
			w.Errorf("heard %v", es)
		}
	}
}

// Whether wake-ups arrive is passed on.
func TestEventsOfSubscription(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		a.net.Tell(driver.Event{Kind: driver.SubscriptionDown, Err: driver.ErrUnavailable})
		a.net.Tell(driver.Event{Kind: driver.SubscriptionUp})
		es := w.heard(a, holdfast.SubscriptionDown, holdfast.SubscriptionUp)
		w.is(es[0].Err, driver.ErrUnavailable)
	})
}

func TestEventNames(t *testing.T) {
	seen := map[string]bool{}
	for k := holdfast.Acquired; k <= holdfast.SubscriptionDown; k++ {
		if s := k.String(); s == "" || s == "unknown" || seen[s] {
			t.Errorf("event %d is called %q", k, s)
		}
		seen[k.String()] = true
	}
	if s := (holdfast.SubscriptionDown + 1).String(); s != "unknown" {
		t.Errorf("an event that does not exist is called %q", s)
	}
}

// A context may be asked under a mutex that the observer locks, too: he hears of
// a loss from the renewer.
func TestContextDoesNotTell(t *testing.T) {
	onMachine(t, 0, func(w *world, a *client, m *machine) {
		l := w.lock(a, "k", nine)
		synctest.Wait()      // the renewer sleeps
		m.suspend(time.Hour) // nobody has noticed
		if l.Context().Err() == nil || l.Check() == nil {
			t.Error("held after its deadline")
		}
		if es := a.events.of(holdfast.Lost); len(es) > 0 {
			t.Errorf("told %v where somebody asked", es)
		}
		time.Sleep(time.Second)
		if es := a.events.of(holdfast.Lost); len(es) != 1 {
			t.Errorf("told %v, want one loss", es)
		}
		w.is(l.Unlock(), holdfast.ErrLost)
	})
}

// The observer gets the values of the call that got the lock, also where another
// one sent the request.
func TestObserverValues(t *testing.T) {
	inBubble(t, func(w *world) {
		net := drivertest.NewFaulty(w.srv.Store())
		var released atomic.Value
		c, err := holdfast.New(net, &holdfast.Options{Observer: func(ctx context.Context, e holdfast.Event) {
			if e.Kind == holdfast.Released {
				released.Store(ctx.Value(valueKey{}))
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		net.Next(drivertest.Try, drivertest.Fault{After: time.Second})
		first, cancel := context.WithCancel(context.WithValue(w.Context(), valueKey{}, "first"))
		left := make(chan error)
		go func() {
			_, err := c.Mutex("k", nil).Lock(first)
			left <- err
		}()
		synctest.Wait()
		time.AfterFunc(500*time.Millisecond, cancel)
		l, err := c.Mutex("k", nil).Lock(context.WithValue(w.Context(), valueKey{}, "second"))
		if err != nil {
			t.Fatal(err)
		}
		w.is(<-left, context.Canceled)
		w.unlock(l)
		if got := released.Load(); got != "second" {
			t.Errorf("the observer got the values of the %v call", got)
		}
		if err := c.Close(w.Context()); err != nil {
			t.Error(err)
		}
	})
}
