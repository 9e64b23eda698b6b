package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// nothing is work that cannot fail.
func nothing(context.Context, *holdfast.Lease) error { return nil }

var errMine = errors.New("card declined")

// Do returns what happened to the work, and never the end of a context for the
// loss of the lock.
func TestDoErrors(t *testing.T) {
	type call = func(ctx context.Context, l *holdfast.Lease) error
	untilEnd := func(ctx context.Context, _ *holdfast.Lease) error {
		<-ctx.Done()
		return ctx.Err()
	}
	lose := func(w *world, a *client, cancel context.CancelFunc) { w.lose(a, "k") }
	for _, c := range []struct {
		name   string
		opts   *holdfast.MutexOptions
		meddle func(w *world, a *client, cancel context.CancelFunc) // after a second
		fn     call
		is     []error
		isNot  []error
	}{
		{name: "success", fn: func(context.Context, *holdfast.Lease) error { return nil }},
		{
			name: "an error of its own", fn: func(context.Context, *holdfast.Lease) error { return errMine },
			is: []error{errMine}, isNot: []error{holdfast.ErrLost},
		},
		{
			name: "lost, cancelled by it", meddle: lose, fn: untilEnd,
			is: []error{holdfast.ErrLost}, isNot: []error{context.Canceled},
		},
		{
			name: "lost, cancelled by it with a text", meddle: lose,
			fn: func(ctx context.Context, l *holdfast.Lease) error {
				return fmt.Errorf("charge: %w", untilEnd(ctx, l))
			},
			is: []error{holdfast.ErrLost}, isNot: []error{context.Canceled},
		},
		{
			name: "lost, cancelled by it and an error of its own", meddle: lose,
			fn: func(ctx context.Context, l *holdfast.Lease) error {
				return errors.Join(errMine, fmt.Errorf("charge: %w", untilEnd(ctx, l)))
			},
			is: []error{holdfast.ErrLost, errMine}, isNot: []error{context.Canceled},
		},
		{
			name: "lost, returns the cause", meddle: lose,
			fn: func(ctx context.Context, _ *holdfast.Lease) error {
				<-ctx.Done()
				return context.Cause(ctx)
			},
			is: []error{holdfast.ErrLost}, isNot: []error{context.Canceled},
		},
		{
			name: "lost, returns the check", meddle: lose,
			fn: func(ctx context.Context, l *holdfast.Lease) error {
				<-ctx.Done()
				return l.Check()
			},
			is: []error{holdfast.ErrLost}, isNot: []error{context.Canceled},
		},
		{
			name: "lost, an error of its own", meddle: lose,
			fn: func(ctx context.Context, _ *holdfast.Lease) error {
				<-ctx.Done()
				return errMine
			},
			is: []error{holdfast.ErrLost, errMine},
		},
		{
			name: "lost, no error", meddle: lose,
			fn: func(ctx context.Context, _ *holdfast.Lease) error {
				<-ctx.Done()
				return nil
			},
			is: []error{holdfast.ErrLost},
		},
		{
			name: "lost, and nobody noticed", meddle: lose,
			fn: func(context.Context, *holdfast.Lease) error {
				time.Sleep(2 * time.Second)
				return nil
			},
			is: []error{holdfast.ErrLost},
		},
		{
			name: "lost, and nobody noticed, with an error", meddle: lose,
			fn: func(context.Context, *holdfast.Lease) error {
				time.Sleep(2 * time.Second)
				return errMine
			},
			is: []error{holdfast.ErrLost, errMine},
		},
		{
			name: "past the deadline, no error", opts: &holdfast.MutexOptions{TTL: ttl, NoRenew: true},
			fn: func(context.Context, *holdfast.Lease) error {
				time.Sleep(lasts)
				return nil
			},
			is: []error{holdfast.ErrLost},
		},
		{
			name: "cancelled by the caller", fn: untilEnd,
			meddle: func(_ *world, _ *client, cancel context.CancelFunc) { cancel() },
			is:     []error{context.Canceled}, isNot: []error{holdfast.ErrLost, holdfast.ErrNotHeld},
		},
		{
			name: "cancelled by the caller and lost",
			meddle: func(w *world, a *client, cancel context.CancelFunc) {
				w.lose(a, "k")
				cancel()
			},
			fn: untilEnd,
			is: []error{holdfast.ErrLost, context.Canceled},
		},
		{
			name: "MaxHold", opts: &holdfast.MutexOptions{MaxHold: time.Second}, fn: untilEnd,
			is: []error{holdfast.ErrMaxHold}, isNot: []error{context.Canceled, holdfast.ErrLost},
		},
		{
			name: "revoked", fn: untilEnd,
			meddle: func(w *world, a *client, _ context.CancelFunc) {
				a.net.Break(w.Context(), "k", a.calls(drivertest.Try)[0].Owner, 1, false)
			},
			is: []error{holdfast.ErrRevoked}, isNot: []error{context.Canceled, holdfast.ErrLost},
		},
		{
			name: "client closed", fn: untilEnd,
			meddle: func(w *world, a *client, _ context.CancelFunc) { a.Close(context.Background()) },
			is:     []error{holdfast.ErrClosed}, isNot: []error{context.Canceled, holdfast.ErrLost},
		},
		{
			name: "unlocked by itself",
			fn:   func(_ context.Context, l *holdfast.Lease) error { return l.Unlock() },
		},
		{
			name: "unlocked by itself, and an error",
			fn: func(ctx context.Context, l *holdfast.Lease) error {
				l.Unlock()
				return context.Cause(ctx)
			},
			is: []error{holdfast.ErrNotHeld},
		},
		{
			name:   "release not confirmed",
			meddle: func(_ *world, a *client, _ context.CancelFunc) { a.net.Partition(driver.ErrUnavailable) },
			fn: func(context.Context, *holdfast.Lease) error {
				time.Sleep(2 * time.Second)
				return nil
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				a := w.open(nil)
				opts := c.opts
				if opts == nil {
					opts = nine
				}
				ctx, cancel := context.WithCancel(w.Context())
				defer cancel()
				if c.meddle != nil {
					time.AfterFunc(time.Second, func() { c.meddle(w, a, cancel) })
				}
				err := a.Mutex("k", opts).Do(ctx, c.fn)
				if len(c.is) == 0 && err != nil {
					t.Errorf("Do: %v", err)
				}
				w.is(err, c.is...)
				for _, target := range c.isNot {
					if errors.Is(err, target) {
						t.Errorf("Do: %v: matches %q", err, target)
					}
				}
				if lost := errors.Is(err, holdfast.ErrLost); lost && !strings.Contains(err.Error(), `"k"`) {
					t.Errorf("Do: %v: does not name the lock", err)
				}
				a.net.Heal()
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if !w.free("k") {
					t.Error("not free after Do")
				}
			})
		})
	}
}

// An error of the work comes back as it is.
func TestDoReturnsSameError(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		mine := errors.New("mine")
		if err := a.Do(w.Context(), "k", func(context.Context, *holdfast.Lease) error { return mine }); err != mine {
			t.Errorf("%#v", err)
		}
	})
}

// The observer alone hears of a release that the store did not confirm.
func TestDoReleaseNotConfirmed(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		err := a.Do(w.Context(), "k", func(context.Context, *holdfast.Lease) error {
			a.net.Partition(driver.ErrUnavailable)
			return nil
		})
		if err != nil {
			t.Errorf("Do: %v: a caller would repeat the work", err)
		}
		released := a.events.of(holdfast.Released)
		if len(released) != 1 || !errors.Is(released[0].Err, holdfast.ErrUnavailable) {
			t.Errorf("told %v, want an unconfirmed release", released)
		}
		a.net.Heal()
	})
}

// A function that panics or ends its goroutine releases, too.
func TestDoUnwinds(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		func() {
			defer func() {
				if r := recover(); r != "oops" {
					t.Errorf("recovered %v", r)
				}
			}()
			a.Do(w.Context(), "k", func(context.Context, *holdfast.Lease) error { panic("oops") })
		}()
		if !w.free("k") {
			t.Error("not free after a panic")
		}
		ended := make(chan bool)
		go func() {
			defer close(ended)
			a.Do(w.Context(), "k", func(context.Context, *holdfast.Lease) error {
				runtime.Goexit()
				return nil
			})
		}()
		<-ended
		if !w.free("k") {
			t.Error("not free after Goexit")
		}
	})
}

// Do's context is the caller's, bound to the lease.
func TestDoContext(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		ctx, cancel := context.WithTimeout(context.WithValue(w.Context(), valueKey{}, "v"), time.Minute)
		defer cancel()
		var kept context.Context
		err := a.Do(ctx, "k", func(ctx context.Context, l *holdfast.Lease) error {
			kept = ctx
			if at, ok := ctx.Deadline(); !ok || time.Until(at) != time.Minute {
				t.Errorf("deadline %v, %v", at, ok)
			}
			if got, _ := holdfast.FromContext(ctx, "k"); got != l || ctx.Value(valueKey{}) != "v" {
				t.Errorf("lease %v, value %v", got, ctx.Value(valueKey{}))
			}
			return ctx.Err()
		})
		if err != nil {
			t.Error(err)
		}
		w.is(kept.Err(), context.Canceled) // it does not outlive Do
	})
}

// TryDo runs its function if the lock is free now, else not at all.
func TestTryDo(t *testing.T) {
	inBubble(t, func(w *world) {
		a, b := w.open(nil), w.open(nil)
		ran := 0
		fn := func(context.Context, *holdfast.Lease) error { ran++; return errMine }
		w.is(b.Mutex("k", nil).TryDo(w.Context(), fn), errMine)
		l := w.lock(a, "k", nil)
		start := time.Now()
		err := b.Mutex("k", nil).TryDo(w.Context(), fn)
		var held *holdfast.HeldError
		if !errors.As(err, &held) || ran != 1 || time.Since(start) > 0 {
			t.Errorf("%v after %v, ran %d times", err, time.Since(start), ran)
		}
		w.unlock(l)
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		w.is(b.Mutex("k", nil).TryDo(ctx, fn), context.Canceled)
		w.is(b.Mutex("k", nil).Do(ctx, fn), context.Canceled)
		if ran != 1 {
			t.Error("ran on a dead context")
		}
	})
}
