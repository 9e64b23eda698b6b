//go:build unix

package cases_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// Unlocking an expired lease says lost, never "taken"; who holds the name now,
// if anybody, is a question that has its own two answers.
func TestB157UnlockAfterExpiry(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		for _, taken := range []bool{false, true} {
			l := a.lock("k", w.fixed(4))
			w.ended(l, w.s(4))
			w.soon(w.s(1), "the hold expires", func() bool { return !w.held("k") })
			if taken {
				b.lock("k", w.ttl(30))
			}
			err := l.Unlock()
			w.is(err, holdfast.ErrLost)
			w.isnt(err, holdfast.ErrHeld)
			h, err := a.Holder(context.Background(), "k")
			if nobody := errors.Is(err, holdfast.ErrNotHeld); nobody == taken {
				w.Errorf("taken by another: %v, Holder says %+v, %v", taken, h, err)
			}
			if h.Fingerprint == l.Fingerprint() {
				w.Error("the late holder is shown as the holder")
			}
		}
	})
}

// There is a signal of loss on the lease, there before any work begins.
func TestB161LossSignal(t *testing.T) {
	eachStore(t, func(w *world) {
		a := w.client()
		l := a.lock("k", w.ttl(10))
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		bound := l.Bind(ctx)
		if l.Context().Err() != nil || bound.Err() != nil {
			w.Error("the signal is there before the loss")
		}
		w.remove("k")
		_, cause := w.ended(l, w.s(10)/3)
		w.is(cause, holdfast.ErrLost)
		w.is(context.Cause(bound), holdfast.ErrLost)
		w.is(ctx.Err(), nil)
		late := l.Bind(context.Background())
		w.is(context.Cause(late), holdfast.ErrLost)
		if n := a.heard.count(holdfast.Lost); n != 1 {
			w.Errorf("the observer heard of %d losses, want 1", n)
		}
	})
}

var errBody = errors.New("the body failed")

// Do tells the loss and the body's own error, whichever there are.
func TestB163LossAndOwnError(t *testing.T) {
	eachStore(t, func(w *world) {
		for _, own := range []error{nil, errBody} {
			a := w.client()
			err := a.Mutex("k", w.ttl(10)).Do(context.Background(), func(ctx context.Context, _ *holdfast.Lease) error {
				w.remove("k")
				<-ctx.Done()
				return own
			})
			w.is(err, holdfast.ErrLost)
			if own != nil {
				w.is(err, own)
			}
			w.isnt(err, context.Canceled)
		}
	})
}

// Without its store a client locks nothing: there is no way around.
func TestB165NoStoreNoLock(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.stranger()
		for _, c := range []*client{a, b} {
			c.net.Partition(driver.ErrUnavailable)
			o := &holdfast.MutexOptions{TTL: w.s(8), Patience: w.s(8)}
			body := func(context.Context, *holdfast.Lease) error {
				w.Error("the body ran without the lock")
				return nil
			}
			for what, err := range map[string]error{
				"Lock":    c.Mutex("k", o).Do(context.Background(), body),
				"TryLock": c.Mutex("k", o).TryDo(context.Background(), body),
			} {
				if !errors.Is(err, holdfast.ErrUnavailable) || errors.Is(err, holdfast.ErrHeld) {
					w.Errorf("%s without a store: %v", what, err)
				}
			}
		}
	})
}

// Nonsense for an answer to a renewal harms nothing but the renewal.
func TestB167RenewalsAnsweredByNonsense(t *testing.T) {
	eachStore(t, func(w *world) {
		enough := 100
		if w.store == "sqlite" {
			enough = scaled(w, 30, 100)
		}
		a := w.client()
		nonsense := []error{
			errors.New("-ERR \x00 garbage"), driver.ErrUnknown, driver.ErrUnavailable, driver.ErrRefused,
			&driver.Busy{}, context.Canceled, context.DeadlineExceeded, fmt.Errorf("%w%w", driver.ErrRefused, driver.ErrTemporary),
		}
		var n atomic.Int64
		a.net.Plan(func(c drivertest.Call) drivertest.Fault {
			if c.Method != drivertest.Renew {
				return drivertest.Fault{}
			}
			return drivertest.Fault{LoseRequest: true, Err: nonsense[n.Add(1)%int64(len(nonsense))]}
		})
		for n.Load() < int64(enough) {
			l := a.lock("k", w.ttl(8))
			before := l.Deadline()
			at, cause := w.ended(l, w.s(8))
			w.is(cause, holdfast.ErrLost)
			if at.Before(before) {
				w.Errorf("nonsense ended the lease %v before its deadline", before.Sub(at))
			}
			w.is(l.Unlock(), holdfast.ErrLost)
			w.soon(w.s(8), "the name is free", func() bool { return !w.held("k") })
		}
		if a.heard.count(holdfast.RenewalFailed) < enough {
			w.Error("the observer did not hear of each failure")
		}
	})
}

// Who ignores the error of a lock that was not taken gets no lease that looks
// held, and cannot unlock anybody.
func TestB171IgnoredError(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		la := a.lock("k", w.ttl(30))
		before := w.state("k")
		l, _ := b.Mutex("k", w.upTo(30, 1)).Lock(context.Background())
		err := l.Unlock()
		w.is(err, holdfast.ErrNotHeld)
		if !strings.Contains(fmt.Sprint(err), "never taken") {
			w.Errorf("the error does not say that the lock was never taken: %v", err)
		}
		err = b.Mutex("k", w.upTo(30, 1)).Do(context.Background(), func(context.Context, *holdfast.Lease) error {
			w.Error("the body ran without the lock")
			return nil
		})
		w.is(err, holdfast.ErrHeld)
		if now := w.state("k"); now.owner != before.owner || la.Check() != nil {
			w.Error("the holder was disturbed")
		}
	})
}

// A lock excludes, it does not deduplicate: a short job runs on each node in
// turn, and once with a minimum hold and no waiting, on nodes whose clocks differ
// by more than the job takes.
func TestB173ExclusionIsNotOnce(t *testing.T) {
	eachStore(t, func(w *world) {
		nodes := []*client{w.client(), w.client(), w.client()}
		round := func(o *holdfast.MutexOptions, do func(*holdfast.Mutex, context.Context, func(context.Context, *holdfast.Lease) error) error) (runs int) {
			errs := make(chan error)
			for i, c := range nodes {
				go func() {
					w.pass(time.Duration(i) * w.s(0.5))
					errs <- do(c.Mutex("job", o), context.Background(), func(context.Context, *holdfast.Lease) error {
						runs++ // under the lock
						w.pass(time.Millisecond)
						return nil
					})
				}()
			}
			for range nodes {
				if err := <-errs; err != nil && !errors.Is(err, holdfast.ErrHeld) {
					w.Error(err)
				}
			}
			return runs
		}
		if n := round(w.within(10, 20), (*holdfast.Mutex).Do); n != 3 {
			w.Errorf("with waiting the job ran %d times, want 3", n)
		}
		once := &holdfast.MutexOptions{TTL: w.s(10), AtLeast: w.s(10)}
		for range 2 {
			if n := round(once, (*holdfast.Mutex).TryDo); n != 1 {
				w.Errorf("with a minimum hold the job ran %d times, want 1", n)
			}
			w.soon(w.s(10), "the round ends", func() bool { return !w.held("job") })
		}
	})
}
