package holdfast_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/store/memstore"
)

// The tests below use a TTL of 9 s: renewals leave every 3 s, a request may take
// 3 s, and the lease lasts from the sending of the request that was granted less
// 1 % and 2 ms for drift, and a tenth to stop.
const (
	ttl   = 9 * time.Second
	third = ttl / 3
	lasts = ttl - 90*time.Millisecond - 2*time.Millisecond - 900*time.Millisecond
)

var nine = &holdfast.MutexOptions{TTL: ttl}

// The deadline counts from the sending of the very request that was granted.
func TestDeadlineCountsFromSending(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults []drivertest.Fault
	}{
		{"slow request", []drivertest.Fault{{Before: 2 * time.Second}}},
		{"slow reply", []drivertest.Fault{{After: 2 * time.Second}}},
		{"lost reply", []drivertest.Fault{lostReply()}},
		{"silence", []drivertest.Fault{{LoseReply: true}, {After: time.Second}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				a := w.open(nil)
				w.contact(a)
				a.net.Forget()
				a.net.Next(drivertest.Try, c.faults...)
				l := w.lock(a, "k", nine)
				tries := a.calls(drivertest.Try)
				sent := tries[len(tries)-1].At
				if got := l.Deadline().Sub(sent); got != lasts {
					t.Errorf("deadline %v after sending, want %v", got, lasts)
				}
				a.net.Partition(driver.ErrUnavailable)
				w.ended(l, sent, lasts, holdfast.ErrLost)
				a.net.Heal()
			})
		})
	}
}

// Only a confirmed renewal moves the deadline. Failed ones are repeated at short
// intervals until then.
func TestRenewalsFail(t *testing.T) {
	for name, fault := range map[string]drivertest.Fault{
		"lost requests": {LoseRequest: true, Err: driver.ErrUnavailable},
		"lost replies":  {LoseReply: true, Err: driver.ErrUnknown},
		"refused":       {LoseRequest: true, Err: driver.ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				a := w.open(nil)
				start := time.Now()
				l := w.lock(a, "k", nine)
				a.net.Plan(func(c drivertest.Call) drivertest.Fault {
					if c.Method != drivertest.Renew {
						return drivertest.Fault{}
					}
					return fault
				})
				w.ended(l, start, lasts, holdfast.ErrLost)
				last := start.Add(third)
				renewals := a.calls(drivertest.Renew)
				for i, c := range renewals {
					pause := c.At.Sub(last)
					if i > 0 && (pause <= 0 || pause > ttl/30) {
						t.Errorf("renewal %d left %v after the one before", i, pause)
					}
					last = c.At
				}
				if pause := start.Add(lasts).Sub(last); pause > ttl/30 {
					t.Errorf("the last renewal left %v before the deadline", pause)
				}
				if n := len(a.events.of(holdfast.RenewalFailed)); n != len(renewals) {
					t.Errorf("%d failures were told, want %d", n, len(renewals))
				}
				if n := len(a.events.of(holdfast.Lost)); n != 1 {
					t.Errorf("%d losses were told, want 1", n)
				}
				w.is(l.Unlock(), holdfast.ErrLost)
			})
		})
	}
}

// A store that does not answer renewals is asked again as soon as the time for
// one request is over, and the lease goes on when it answers before the
// deadline.
func TestRenewalRecovers(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		start := time.Now()
		l := w.lock(a, "k", nine)
		a.net.Partition(nil)
		w.sleepTo(start, lasts-1)
		if got := l.Deadline().Sub(start); got != lasts {
			t.Errorf("deadline %v, want %v: nothing was confirmed", got, lasts)
		}
		w.is(l.Check(), nil)
		a.net.Partition(driver.ErrUnavailable) // the request under way fails
		w.ended(l, start, lasts, holdfast.ErrLost)

		a.net.Heal()
		start = time.Now()
		l = w.lock(a, "other", nine)
		a.net.Partition(driver.ErrUnavailable)
		w.sleepTo(start, 7*time.Second)
		a.net.Heal()
		w.sleepTo(start, time.Minute)
		if err := l.Check(); err != nil {
			t.Error(err)
		}
		renewed := a.events.of(holdfast.RenewedLate)
		if len(renewed) != 1 {
			t.Errorf("%d late renewals were told, want 1", len(renewed))
		}
		w.unlock(l)
	})
}

// A store that says that the hold is gone ends the lease at once.
func TestRenewalFindsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		fault drivertest.Fault
		want  error
	}{
		"gone":    {drivertest.Fault{}, driver.ErrGone},
		"corrupt": {drivertest.Fault{LoseRequest: true, Err: driver.ErrCorrupt}, holdfast.ErrCorrupt},
		"kind":    {drivertest.Fault{LoseRequest: true, Err: driver.ErrKind}, holdfast.ErrKind},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				a := w.open(nil)
				start := time.Now()
				l := w.lock(a, "k", nine)
				if name == "gone" {
					w.lose(a, "k")
				}
				a.net.Next(drivertest.Renew, c.fault)
				w.ended(l, start, third, holdfast.ErrLost)
				w.is(l.Check(), c.want)
				synctest.Wait()
				lost := a.events.of(holdfast.Lost)
				if len(lost) != 1 || !errors.Is(lost[0].Err, holdfast.ErrLost) || lost[0].Held != third {
					t.Errorf("told %v, want one loss after %v", lost, third)
				}
				w.sleepTo(start, time.Hour)
				if n := len(a.calls(drivertest.Renew)); n != 1 {
					t.Errorf("%d renewals, want none after the loss", n)
				}
				w.is(l.Unlock(), holdfast.ErrLost)
			})
		})
	}
}

// A store may tell of a loss unasked. It cannot end the lease of another owner.
func TestStoreTellsLoss(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		start := time.Now()
		l := w.lock(a, "k", nine)
		owner := a.calls(drivertest.Try)[0].Owner
		a.net.Tell(driver.Event{Kind: driver.Lost, Name: "k", Owner: owner + "0"})
		a.net.Tell(driver.Event{Kind: driver.Revoked, Name: "other", Owner: owner})
		w.is(l.Check(), nil)
		time.AfterFunc(time.Second, func() {
			a.net.Tell(driver.Event{Kind: driver.Lost, Name: "k", Owner: owner, Err: driver.ErrGone})
		})
		w.ended(l, start, time.Second, holdfast.ErrLost)
		w.is(l.Check(), driver.ErrGone)
		w.is(l.Unlock(), holdfast.ErrLost)
	})
}

// A revoked lease ends at the push, or at the next renewal where the push was
// lost. The name stays taken until Unlock, unless the operator freed it at once.
func TestRevoked(t *testing.T) {
	for _, c := range []struct {
		name   string
		pushed bool
		now    bool
		ends   time.Duration
		cause  error
		unlock error
	}{
		{"pushed", true, false, time.Second, holdfast.ErrRevoked, nil},
		{"push lost", false, false, third, holdfast.ErrRevoked, nil},
		{"freed at once", true, true, time.Second, holdfast.ErrRevoked, holdfast.ErrLost},
		{"freed at once, push lost", false, true, third, holdfast.ErrLost, holdfast.ErrLost},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				a := w.open(nil)
				start := time.Now()
				l := w.lock(a, "k", nine)
				owner := a.calls(drivertest.Try)[0].Owner
				time.AfterFunc(time.Second, func() {
					if !c.pushed {
						a.net.Partition(nil)
						defer a.net.Heal()
					}
					operator := w.srv.Store().(driver.Breaker)
					if err := operator.Break(context.Background(), "k", owner, l.Token(), c.now); err != nil {
						t.Error(err)
					}
				})
				w.ended(l, start, c.ends, c.cause)
				if free := w.free("k"); free != c.now {
					t.Errorf("free = %v before Unlock, want %v", free, c.now)
				}
				if err := l.Unlock(); !errors.Is(err, c.unlock) {
					t.Errorf("Unlock: %v, want %v", err, c.unlock)
				}
				if !w.free("k") {
					t.Error("not free after Unlock")
				}
			})
		})
	}
}

// A grant that comes with less than half of its validity left is given back. Lock
// goes on, TryLock says what happened.
func TestGrantComesLate(t *testing.T) {
	// The lease would last 4.908 s, and a request may take 3 s.
	opts := &holdfast.MutexOptions{TTL: ttl, Margin: 4 * time.Second}
	late := drivertest.Fault{After: 2500 * time.Millisecond}
	inBubble(t, func(w *world) {
		a := w.open(nil)
		w.contact(a)
		a.net.Forget()
		start := time.Now()
		a.net.Next(drivertest.Try, late, late)
		l := w.lock(a, "k", opts)
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("Lock took %v, want two late grants: 5s", took)
		}
		owners := map[string]bool{}
		for _, c := range a.calls(drivertest.Try) {
			owners[c.Owner] = true
		}
		if len(owners) != 3 {
			t.Errorf("%d owner ids for three acquisitions", len(owners))
		}
		w.unlock(l)

		a.net.Next(drivertest.Try, late)
		_, err := a.Mutex("k", opts).TryLock(w.Context())
		w.is(err, holdfast.ErrUnavailable)
		synctest.Wait()
		if n := len(a.events.of(holdfast.GivenBack)); n != 3 || !w.free("k") {
			t.Errorf("%d grants were given back, want 3; free = %v", n, w.free("k"))
		}

		just := drivertest.Fault{After: 2454 * time.Millisecond} // exactly half is left
		a.net.Next(drivertest.Try, just)
		l, err = a.Mutex("k", opts).TryLock(w.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.unlock(l)

		// A store that is always this slow wears out the patience.
		a.net.Plan(func(c drivertest.Call) drivertest.Fault {
			if c.Method == drivertest.Try {
				return late
			}
			return drivertest.Fault{}
		})
		start = time.Now()
		_, err = a.Mutex("k", opts).Lock(w.Context())
		w.is(err, holdfast.ErrUnavailable)
		if took := time.Since(start); took < 9*time.Second || took > 12500*time.Millisecond {
			t.Errorf("Lock gave up after %v, want one TTL and at most one request more", took)
		}
	})
}

// Deadlines are compared on the monotonic clock, so that steps of the wall clock
// do not move them. (The clock of a bubble has no monotonic reading.)
func TestWallClockSteps(t *testing.T) {
	c, err := memstore.New(memstore.NewServer(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	l, err := c.Mutex("k", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	if err := l.Extend(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if at := l.Deadline(); at == at.Round(0) {
		t.Errorf("the deadline has no monotonic reading: %v", at)
	}
}
