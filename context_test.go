package holdfast_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

type (
	valueKey struct{}
	otherKey struct{}
)

// Lock's context bounds the wait only. The lease's own keeps the values and
// nothing else.
func TestLeaseContext(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		ctx, cancel := context.WithTimeout(context.WithValue(w.Context(), valueKey{}, "v"), time.Second)
		l, err := a.Mutex("k", nil).Lock(ctx)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		time.Sleep(time.Hour)
		c := l.Context()
		if c.Err() != nil || c.Value(valueKey{}) != "v" {
			t.Errorf("error %v, value %v", c.Err(), c.Value(valueKey{}))
		}
		if at, ok := c.Deadline(); ok {
			t.Errorf("it has the deadline %v of the call", at)
		}
		if got, ok := holdfast.FromContext(c, "k"); !ok || got != l {
			t.Errorf("FromContext: %v, %v", got, ok)
		}
		w.unlock(l)
		select {
		case <-c.Done():
		default:
			t.Error("not done after Unlock")
		}
		w.is(c.Err(), context.Canceled)
		w.is(context.Cause(c), holdfast.ErrNotHeld)
		if _, ok := holdfast.FromContext(c, "k"); ok {
			t.Error("FromContext returns an unlocked lease")
		}
	})
}

// Bind ends with its parent or with the lease, with the cause of what came
// first.
func TestBind(t *testing.T) {
	stop := errors.New("stop")
	inBubble(t, func(w *world) {
		a := w.open(nil)
		parent, cancel := context.WithCancelCause(context.WithValue(w.Context(), valueKey{}, "parent"))
		l, err := a.Mutex("k", nil).Lock(context.WithValue(w.Context(), valueKey{}, "call"))
		if err != nil {
			t.Fatal(err)
		}
		first, second := l.Bind(parent), l.Bind(w.Context())
		if v := first.Value(valueKey{}); v != "parent" {
			t.Errorf("value %v, want the parent's", v)
		}
		cancel(stop)
		<-first.Done()
		w.is(context.Cause(first), stop)
		w.is(first.Err(), context.Canceled)
		w.is(second.Err(), nil)
		w.is(l.Check(), nil)

		ended := l.Bind(parent) // of a parent that has ended
		<-ended.Done()
		w.is(context.Cause(ended), stop)

		w.lose(a, "k")
		<-second.Done()
		w.is(context.Cause(second), holdfast.ErrLost)
		w.is(context.Cause(first), stop) // stays

		late := l.Bind(w.Context()) // after the end of the lease
		<-late.Done()
		w.is(late.Err(), context.Canceled)
		w.is(context.Cause(late), holdfast.ErrLost)
		w.is(l.Unlock(), holdfast.ErrLost)
	})
}

// What is derived from a lease's context ends with it and tells the same cause.
func TestDerivedContexts(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		start := time.Now()
		l := w.lock(a, "k", &holdfast.MutexOptions{TTL: ttl, NoRenew: true})
		long, cancelLong := context.WithTimeout(l.Context(), time.Hour)
		defer cancelLong()
		short, cancelShort := context.WithTimeout(l.Bind(w.Context()), time.Second)
		defer cancelShort()
		deep := context.WithValue(context.WithValue(long, valueKey{}, 1), otherKey{}, 2)
		called := make(chan time.Duration, 1)
		context.AfterFunc(deep, func() { called <- time.Since(start) })

		<-short.Done()
		w.is(short.Err(), context.DeadlineExceeded)
		w.is(l.Check(), nil)
		<-deep.Done()
		if got := time.Since(start); got != lasts {
			t.Errorf("a derived context ended after %v, want %v", got, lasts)
		}
		w.is(deep.Err(), context.Canceled)
		w.is(context.Cause(deep), holdfast.ErrLost)
		if at := <-called; at != lasts {
			t.Errorf("AfterFunc ran after %v", at)
		}
	})
}

// Nested locks are found by their names.
func TestFromContext(t *testing.T) {
	inBubble(t, func(w *world) {
		a, b := w.open(nil), w.open(nil)
		find := func(ctx context.Context, name string, want *holdfast.Lease) {
			t.Helper()
			if got, ok := holdfast.FromContext(ctx, name); got != want || ok != (want != nil) {
				t.Errorf("FromContext %q: %v, %v", name, got, ok)
			}
		}
		find(w.Context(), "outer", nil)
		outer := w.lock(a, "outer", nil)
		inner, err := b.Mutex("inner", nil).Lock(outer.Context()) // clients do not matter
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.WithoutCancel(inner.Bind(outer.Bind(w.Context())))
		find(ctx, "outer", outer)
		find(ctx, "inner", inner)
		find(ctx, "other", nil)
		find(inner.Context(), "outer", outer)
		find(outer.Context(), "inner", nil)

		again, err := a.Mutex("outer", &holdfast.MutexOptions{Reentrant: true}).Lock(ctx)
		if err != nil {
			t.Fatal(err)
		}
		find(again.Context(), "outer", again)
		deep := context.WithoutCancel(again.Context())
		w.unlock(again)
		find(deep, "outer", outer) // the inner lease has ended, the outer has not
		w.unlock(outer)
		find(deep, "outer", nil)
		find(deep, "inner", inner)
		w.unlock(inner)
	})
}

// Neither leases nor bound contexts cost goroutines, and a bound context whose
// parent has ended costs nothing at all, however long the lease lives.
func TestContextsCostNothing(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		l := w.lock(a, "k", nil)
		synctest.Wait()
		before := runtime.NumGoroutine()
		parent, cancel := context.WithCancel(w.Context())
		kept := make([]context.Context, 0, 2000)
		for range 1000 {
			child, stop := context.WithCancel(l.Bind(parent))
			defer stop()
			kept = append(kept, child, context.WithValue(l.Context(), valueKey{}, 1))
		}
		synctest.Wait()
		if n := runtime.NumGoroutine() - before; n > 0 {
			t.Errorf("%d contexts have %d goroutines", len(kept), n)
		}
		cancel()
		for range 10_000 { // requests that a leader serves
			request, done := context.WithCancel(w.Context())
			l.Bind(request)
			done()
		}
		if n := l.Bound(); n > 1000 {
			t.Errorf("the lease keeps %d contexts of parents that have ended", n)
		}
		w.unlock(l)
		runtime.KeepAlive(kept)
	})
}

// Unlock works although every context of its caller has ended.
func TestUnlockOnDeadContext(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		ctx, cancel := context.WithCancel(w.Context())
		l, err := a.Mutex("k", nil).Lock(ctx)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		w.unlock(l)
		if !w.free("k") {
			t.Error("not free")
		}
	})
}

// Unlock waits for a dead store no longer than min(3 s, time to the deadline).
func TestUnlockIsBounded(t *testing.T) {
	for _, c := range []struct{ at, took time.Duration }{
		{0, 3 * time.Second},
		{lasts - 3*time.Second, 3 * time.Second},
		{lasts - time.Second, time.Second},
		{lasts, 0},
	} {
		inBubble(t, func(w *world) {
			a := w.open(nil)
			start := time.Now()
			l := w.lock(a, "k", &holdfast.MutexOptions{TTL: ttl, NoRenew: true})
			a.net.Partition(nil)
			time.Sleep(time.Until(start.Add(c.at)))
			asked := time.Now()
			err := l.Unlock()
			if took := time.Since(asked); took != c.took {
				t.Errorf("Unlock after %v took %v, want %v", c.at, took, c.took)
			}
			if c.at == lasts {
				w.is(err, holdfast.ErrLost)
			} else {
				w.is(err, holdfast.ErrUnavailable)
			}
			if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, driver.ErrUnknown) {
				t.Errorf("%v: matches what it is not", err)
			}
			a.net.Heal()
		})
	}
}

// A context that a loss ended says so when it is used to lock again, beside the
// cancellation.
func TestLockUnderALostLease(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		l := w.lock(a, "outer", &holdfast.MutexOptions{TTL: time.Second, NoRenew: true})
		time.Sleep(2 * time.Second)
		_, err := a.Mutex("inner", nil).Lock(l.Context())
		w.is(err, context.Canceled, holdfast.ErrLost)
		_, err = a.Mutex("inner", nil).TryLock(l.Context())
		w.is(err, context.Canceled, holdfast.ErrLost)
		w.is(l.Unlock(), holdfast.ErrLost)
	})
}
