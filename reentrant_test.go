package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
)

// Entering three deep makes no request and gives one token; the last unlock
// releases, in whichever order they come.
func TestReentrantAnyOrder(t *testing.T) {
	for _, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			inBubble(t, func(w *world) {
				a := w.open(nil)
				m := a.Mutex("k", &holdfast.MutexOptions{Reentrant: true})
				ctx := w.Context()
				var ls []*holdfast.Lease
				for range 3 {
					l, err := m.Lock(ctx)
					if err != nil {
						t.Fatal(err)
					}
					ls = append(ls, l)
					ctx = l.Context()
				}
				if n := len(a.net.Calls()); n != 1 {
					t.Errorf("%d requests, want 1", n)
				}
				for i, at := range order {
					l := ls[at]
					if l.Token() != ls[0].Token() || l.Fingerprint() != ls[0].Fingerprint() {
						t.Errorf("level %d has a hold of its own", at)
					}
					w.is(l.Check(), nil)
					w.unlock(l)
					w.is(l.Unlock(), holdfast.ErrNotHeld)
					w.is(l.Check(), holdfast.ErrNotHeld)
					w.is(l.Context().Err(), context.Canceled)
					w.is(context.Cause(l.Context()), holdfast.ErrNotHeld)
					if free := w.free("k"); free != (i == 2) {
						t.Errorf("free = %v after %d unlocks", free, i+1)
					}
				}
			})
		})
	}
}

// A lease inside ends with its outer ones when the lock is lost, and each
// says so.
func TestReentrantLoss(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		m := a.Mutex("k", &holdfast.MutexOptions{Reentrant: true})
		outer := w.lock(a, "k", nine)
		inner, err := m.TryLock(outer.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.lose(a, "k")
		<-inner.Context().Done()
		w.is(outer.Check(), holdfast.ErrLost)
		w.is(inner.Unlock(), holdfast.ErrLost)
		w.is(outer.Unlock(), holdfast.ErrLost)
		synctest.Wait()
		if n := len(a.events.of(holdfast.Lost)); n != 1 {
			t.Errorf("%d losses were told, want 1 for the hold", n)
		}
	})
}

// Without the option, a context that holds the name already cannot take it
// again: that would wait for itself.
func TestDeadlock(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		outer := w.lock(a, "k", nil)
		ctx := context.WithValue(outer.Bind(w.Context()), valueKey{}, 1)
		m := a.Mutex("k", nil)
		for what, lock := range map[string]func(context.Context) (*holdfast.Lease, error){"Lock": m.Lock, "TryLock": m.TryLock} {
			for how, ctx := range map[string]context.Context{
				"bound": ctx, "lease's": outer.Context(), "uncancelled": context.WithoutCancel(ctx),
			} {
				start := time.Now()
				_, err := lock(ctx)
				w.is(err, holdfast.ErrHeld, holdfast.ErrDeadlock)
				var held *holdfast.HeldError
				if !errors.As(err, &held) || held.Owner != a.ID()[:8] || time.Since(start) > 0 {
					t.Errorf("%s with the %s context: %v after %v", what, how, err, time.Since(start))
				}
			}
		}
		err := a.Do(ctx, "k", func(context.Context, *holdfast.Lease) error { t.Error("entered"); return nil })
		w.is(err, holdfast.ErrDeadlock)
		if n := len(a.net.Calls()); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
		l, err := a.Mutex("other", nil).Lock(ctx) // another name is free to take
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Lock(l.Context()) // also through the inner lock's context
		w.is(err, holdfast.ErrDeadlock)
		w.unlock(l)
		w.unlock(outer)
	})
}

// The mark of a lease that has ended counts for nothing.
func TestMarkOfEndedLease(t *testing.T) {
	for _, reentrant := range []bool{false, true} {
		opts := &holdfast.MutexOptions{TTL: ttl, NoRenew: true, Reentrant: reentrant}
		inBubble(t, func(w *world) {
			a := w.open(nil)
			lost := w.lock(a, "k", opts)
			time.Sleep(ttl)
			l, err := a.Mutex("k", opts).Lock(context.WithoutCancel(lost.Context()))
			if err != nil {
				t.Fatal(err)
			}
			if l.Token() <= lost.Token() {
				t.Errorf("entered a lost lock again: token %d after %d", l.Token(), lost.Token())
			}
			w.unlock(l)
			l2, err := a.Mutex("k", opts).TryLock(context.WithoutCancel(l.Context()))
			if err != nil {
				t.Fatal(err)
			}
			if l2.Token() <= l.Token() {
				t.Errorf("entered an unlocked lock again: token %d after %d", l2.Token(), l.Token())
			}
			w.unlock(l2)
			w.is(lost.Unlock(), holdfast.ErrLost)
		})
	}
}

// The mark belongs to one client: another one has to wait like everybody.
func TestMarkOfOtherClient(t *testing.T) {
	inBubble(t, func(w *world) {
		a, b := w.open(nil), w.open(nil)
		l := w.lock(a, "k", nil)
		_, err := b.Mutex("k", &holdfast.MutexOptions{Reentrant: true, Wait: time.Second}).Lock(l.Context())
		w.is(err, holdfast.ErrHeld)
		if errors.Is(err, holdfast.ErrDeadlock) {
			t.Errorf("%v: the other client knows nothing of this one's locks", err)
		}
		w.unlock(l)
	})
}

// Goroutines under one context exclude each other, as under any other.
func TestGoroutinesUnderOneContext(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		err := a.Do(w.Context(), "outer", func(ctx context.Context, _ *holdfast.Lease) error {
			inside, done := 0, make(chan error)
			for range 10 {
				go func() {
					done <- a.Do(ctx, "k", func(context.Context, *holdfast.Lease) error {
						inside++
						if inside > 1 {
							t.Errorf("%d goroutines are inside", inside)
						}
						time.Sleep(time.Second)
						inside--
						return nil
					})
				}()
			}
			for range 10 {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// An inner call cannot change what was agreed for the hold.
func TestReentrantConflicts(t *testing.T) {
	outer := holdfast.MutexOptions{TTL: 10 * time.Second, MaxHold: time.Hour, AtLeast: time.Second, Margin: 2 * time.Second}
	for name, c := range map[string]struct {
		opts holdfast.MutexOptions
		ok   bool
	}{
		"defaults":          {holdfast.MutexOptions{}, true},
		"the same":          {outer, true},
		"waiting":           {holdfast.MutexOptions{Wait: 1, Patience: -1, MaxWaiters: 1}, true},
		"another TTL":       {holdfast.MutexOptions{TTL: 11 * time.Second}, false},
		"the default TTL":   {holdfast.MutexOptions{TTL: 30 * time.Second}, false},
		"NoRenew":           {holdfast.MutexOptions{NoRenew: true}, false},
		"another MaxHold":   {holdfast.MutexOptions{MaxHold: time.Minute}, false},
		"another AtLeast":   {holdfast.MutexOptions{AtLeast: 2 * time.Second}, false},
		"another Margin":    {holdfast.MutexOptions{Margin: 1}, false},
		"an invalid Margin": {holdfast.MutexOptions{Margin: -1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				a := w.open(nil)
				l := w.lock(a, "k", &outer)
				c.opts.Reentrant = true
				inner, err := a.Mutex("k", &c.opts).Lock(l.Context())
				if c.ok && err != nil || !c.ok && !errors.Is(err, holdfast.ErrInvalid) {
					t.Errorf("%v", err)
				}
				if err == nil {
					w.unlock(inner)
				}
				w.is(l.Check(), nil)
				w.unlock(l)
			})
		})
	}
}

// AtLeast and MaxHold are the hold's: the outer lease's end decides.
func TestReentrantAtLeast(t *testing.T) {
	inBubble(t, func(w *world) {
		a, b := w.open(nil), w.open(nil)
		w.contact(b)
		start := time.Now()
		outer := w.lock(a, "k", &holdfast.MutexOptions{AtLeast: time.Minute})
		inner, err := a.Mutex("k", &holdfast.MutexOptions{Reentrant: true}).Lock(outer.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.unlock(outer)
		w.sleepTo(start, time.Second)
		w.unlock(inner)
		synctest.Wait()
		w.unlock(w.lock(b, "k", nil))
		if got := time.Since(start); got != time.Minute {
			t.Errorf("the name was taken for %v, want 1m", got)
		}
	})
}

// ending is a context that calls f once, right after it led to a lease.
type ending struct {
	context.Context
	f func()
}

func (c *ending) Value(key any) any {
	v := c.Context.Value(key)
	if _, ok := v.(*holdfast.Lease); ok && c.f != nil {
		f := c.f
		c.f = nil
		f()
	}
	return v
}

// Nor does the mark of one that ends while it is looked at.
func TestMarkOfEndingLease(t *testing.T) {
	for _, reentrant := range []bool{false, true} {
		inBubble(t, func(w *world) {
			a := w.open(nil)
			outer := w.lock(a, "k", nil)
			ctx := &ending{context.WithoutCancel(outer.Context()), func() { w.unlock(outer) }}
			l, err := a.Mutex("k", &holdfast.MutexOptions{Reentrant: reentrant}).Lock(ctx)
			if err != nil {
				t.Fatalf("reentrant %v: %v", reentrant, err)
			}
			w.unlock(l)
		})
	}
}

// Past the deadline each Unlock says that the lock was lost, whatever ended the
// lease before.
func TestReentrantLossAfterMaxHold(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		outer := w.lock(a, "k", &holdfast.MutexOptions{TTL: ttl, MaxHold: time.Second})
		inner, err := a.Mutex("k", &holdfast.MutexOptions{Reentrant: true}).Lock(outer.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl)
		w.is(inner.Unlock(), holdfast.ErrLost)
		w.is(outer.Unlock(), holdfast.ErrLost)
	})
}
