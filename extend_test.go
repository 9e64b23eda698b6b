package holdfast_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/store/memstore"
)

// Extend makes the lease last at least so long from now, and asks the store only
// if it would not anyway.
func TestExtend(t *testing.T) {
	for _, noRenew := range []bool{false, true} {
		inBubble(t, func(w *world) {
			a := w.open(nil)
			start := time.Now()
			l := w.lock(a, "k", &holdfast.MutexOptions{TTL: ttl, NoRenew: noRenew})
			w.sleepTo(start, time.Second)
			for _, d := range []time.Duration{1, time.Second, lasts - time.Second} {
				if err := l.Extend(w.Context(), d); err != nil {
					t.Errorf("Extend %v: %v", d, err)
				}
			}
			if n := len(a.calls(drivertest.Renew)); n > 0 || l.Deadline().Sub(start) != lasts {
				t.Errorf("%d requests for nothing, deadline %v", n, l.Deadline().Sub(start))
			}
			for _, d := range []time.Duration{lasts - time.Second + 1, lasts, time.Minute, time.Hour} {
				asked := time.Now()
				if err := l.Extend(w.Context(), d); err != nil {
					t.Errorf("Extend %v: %v", d, err)
				}
				if got := l.Deadline().Sub(asked); got < d || got > d+d/50+2*time.Second {
					t.Errorf("Extend %v: the lease lasts %v", d, got)
				}
			}
			until := l.Deadline()
			if err := l.Extend(w.Context(), time.Minute); err != nil || !l.Deadline().Equal(until) {
				t.Errorf("a shorter extension: %v, deadline moved by %v", err, l.Deadline().Sub(until))
			}
			w.sleepTo(start, time.Hour)
			if err := l.Check(); err != nil {
				t.Error(err)
			}
			if noRenew {
				w.ended(l, start, until.Sub(start), holdfast.ErrLost)
				return
			}
			w.sleepTo(start, 2*time.Hour)
			w.unlock(l)
		})
	}
}

func TestExtendBadValues(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		l := w.lock(a, "k", nil)
		until := l.Deadline()
		for _, d := range []time.Duration{0, -1, -time.Hour, math.MinInt64, 20 * 365 * 24 * time.Hour, math.MaxInt64} {
			w.is(l.Extend(w.Context(), d), holdfast.ErrInvalid)
		}
		if !l.Deadline().Equal(until) || len(a.calls(drivertest.Renew)) > 0 {
			t.Error("a refused extension had an effect")
		}
		w.unlock(l)
		w.is(l.Extend(w.Context(), time.Second), holdfast.ErrNotHeld)
	})
}

// An extension beyond MaxHold lasts until MaxHold, however far beyond.
func TestExtendMaxHold(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		start := time.Now()
		l := w.lock(a, "k", &holdfast.MutexOptions{TTL: ttl, MaxHold: time.Minute})
		for _, d := range []time.Duration{time.Hour, math.MaxInt64} {
			if err := l.Extend(w.Context(), d); err != nil {
				t.Errorf("Extend %v: %v", d, err)
			}
			if got := l.Deadline().Sub(start); got != time.Minute {
				t.Errorf("Extend %v: the lease lasts %v, want MaxHold: 1m", d, got)
			}
		}
		w.ended(l, start, time.Minute, holdfast.ErrMaxHold)
		w.is(l.Extend(w.Context(), time.Second), holdfast.ErrMaxHold)
		w.unlock(l)
	})
}

// An extension is not fulfilled by a renewal that left before it was asked for.
func TestExtendDuringRenewal(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		start := time.Now()
		l := w.lock(a, "k", nine)
		a.net.Next(drivertest.Renew, drivertest.Fault{After: 2 * time.Second})
		w.sleepTo(start, third+time.Second)
		asked := time.Now()
		if err := l.Extend(w.Context(), lasts-1); err != nil {
			t.Fatal(err)
		}
		if got := l.Deadline().Sub(asked); got < lasts-1 {
			t.Errorf("the lease lasts %v, want at least %v", got, lasts-1)
		}
		if took := time.Since(asked); took != time.Second {
			t.Errorf("Extend took %v, want the rest of the renewal: 1s", took)
		}
		w.unlock(l)
	})
}

// Extensions at once share requests, and each gets at least what it asked for.
func TestExtendAtOnce(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		l := w.lock(a, "k", nine)
		a.net.Plan(func(drivertest.Call) drivertest.Fault {
			return drivertest.Fault{Before: 100 * time.Millisecond, After: 100 * time.Millisecond}
		})
		asked := time.Now()
		done := make(chan bool)
		for i := range 100 {
			d := time.Duration(i+1) * time.Minute
			go func() {
				defer func() { done <- true }()
				if err := l.Extend(w.Context(), d); err != nil {
					t.Errorf("Extend %v: %v", d, err)
				}
				if got := l.Deadline().Sub(asked); got < d {
					t.Errorf("Extend %v: the lease lasts %v", d, got)
				}
			}()
		}
		for range 100 {
			<-done
		}
		if n := len(a.calls(drivertest.Renew)); n > 2 {
			t.Errorf("100 extensions made %d requests, want 1 or 2", n)
		}
		w.unlock(l)
	})
}

// An extension that cannot reach the store says so and leaves the lease as it
// was.
func TestExtendPartition(t *testing.T) {
	for name, cut := range map[string]error{"silent": nil, "refused": driver.ErrUnavailable, "broken": driver.ErrUnknown} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				a := w.open(nil)
				start := time.Now()
				l := w.lock(a, "k", nine)
				a.net.Partition(cut)
				err := l.Extend(w.Context(), time.Minute)
				w.is(err, holdfast.ErrUnavailable)
				if errors.Is(err, holdfast.ErrUnknown) || errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Extend: %v: this error is another call's", err)
				}
				if took := time.Since(start); took > third {
					t.Errorf("Extend took %v, want at most one request: %v", took, third)
				}
				w.ended(l, start, lasts, holdfast.ErrLost)
				a.net.Heal()
			})
		})
	}
}

// An extension ends with its context and with its lease.
func TestExtendEnds(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		l := w.lock(a, "k", nine)
		a.net.Plan(func(drivertest.Call) drivertest.Fault { return drivertest.Fault{After: 2 * time.Second} })
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		asked := time.Now()
		w.is(l.Extend(ctx, time.Minute), context.DeadlineExceeded)
		if took := time.Since(asked); took != time.Second {
			t.Errorf("Extend took %v, want 1s", took)
		}
		time.Sleep(time.Second) // the answer still counts
		synctest.Wait()
		if got := l.Deadline().Sub(asked); got < time.Minute {
			t.Errorf("the lease lasts %v, want a minute", got)
		}

		ended := make(chan error)
		go func() { ended <- l.Extend(w.Context(), time.Hour) }()
		synctest.Wait()
		w.unlock(l)
		w.is(<-ended, holdfast.ErrNotHeld)
	})
}

// Time does not stand still outside a bubble.
func TestExtendInRealTime(t *testing.T) {
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
	asked := time.Now()
	if err := l.Extend(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if got := l.Deadline().Sub(asked); got < time.Hour {
		t.Errorf("the lease lasts %v, want an hour", got)
	}
}
