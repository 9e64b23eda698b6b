package holdfast_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/store/memstore"
)

// leakTest is a client in real time, since the collector takes no notice of
// bubbles.
type leakTest struct {
	*testing.T
	c      *holdfast.Client
	net    *drivertest.Faulty
	events *events
}

var shortLease = &holdfast.MutexOptions{TTL: 2 * time.Second, Reentrant: true}

func newLeakTest(t *testing.T) *leakTest {
	t.Parallel()
	x := &leakTest{T: t, net: drivertest.NewFaulty(memstore.NewServer().Store()), events: &events{}}
	c, err := holdfast.New(x.net, &holdfast.Options{Observer: x.events.observe})
	if err != nil {
		t.Fatal(err)
	}
	x.c = c
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return x
}

// lock takes name under ctx and returns what the caller keeps of the lease.
func (x *leakTest) lock(ctx context.Context, name string) *holdfast.Lease {
	x.Helper()
	l, err := x.c.Mutex(name, shortLease).Lock(ctx)
	if err != nil {
		x.Fatal(err)
	}
	return l
}

// until collects garbage until done, for half a minute at most.
func (x *leakTest) until(what string, done func() bool) {
	x.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for !done() {
		select {
		case <-tick.C:
			runtime.GC()
		case <-deadline:
			x.Fatalf("in 10 s: not %s", what)
		}
	}
}

// renewed waits for two renewals: a leak is noticed by the second.
func (x *leakTest) renewed() {
	x.Helper()
	x.net.Forget()
	x.until("renewed", func() bool { return len(x.net.Calls(drivertest.Renew)) >= 2 || len(x.events.of(holdfast.Lost)) > 0 })
	if es := x.events.of(holdfast.Lost); len(es) > 0 {
		x.Fatalf("lost: %v", es)
	}
}

func (x *leakTest) leaked() int { return len(x.events.of(holdfast.Leaked)) }

func (x *leakTest) free(name string) bool {
	l, err := x.c.Mutex(name, nil).TryLock(context.Background())
	return err == nil && l.Unlock() == nil
}

// A lease that was forgotten without Unlock is renewed no longer.
func TestForgottenLease(t *testing.T) {
	x := newLeakTest(t)
	token := x.lock(t.Context(), "k").Token()
	x.until("told of the leak", func() bool { return x.leaked() == 1 })
	x.until("free", func() bool { return x.free("k") })
	if e := x.events.of(holdfast.Leaked)[0]; e.Name != "k" || e.Token != token || e.Held <= 0 {
		t.Errorf("told %+v", e)
	}
	if es := x.events.of(holdfast.Lost); len(es) > 0 {
		t.Errorf("told of a loss, too: %v", es)
	}
}

// So is a lease that was entered again and forgotten at every level, although
// the inner one's context leads to the outer one.
func TestForgottenReentry(t *testing.T) {
	x := newLeakTest(t)
	func() {
		outer := x.lock(t.Context(), "k")
		inner := x.lock(outer.Context(), "k")
		if inner.Token() != outer.Token() {
			t.Error("did not enter again")
		}
	}()
	x.until("told of the leak", func() bool { return x.leaked() == 1 })
	x.until("free", func() bool { return x.free("k") })
}

// One level that is still in use keeps the hold.
func TestHalfForgottenReentry(t *testing.T) {
	x := newLeakTest(t)
	outer := x.lock(t.Context(), "k")
	x.lock(outer.Context(), "k")
	x.renewed()
	if err := outer.Check(); err != nil || x.leaked() > 0 {
		t.Errorf("%v, %d leaks", err, x.leaked())
	}
	if err := outer.Unlock(); err != nil {
		t.Error(err)
	}
	x.until("told of the leak", func() bool { return x.leaked() == 1 }) // the inner level
	x.until("free", func() bool { return x.free("k") })
}

// A lease that can be reached through a context is in use.
func TestLeaseInContext(t *testing.T) {
	x := newLeakTest(t)
	for name, hide := range map[string]func(*holdfast.Lease) context.Context{
		"own":     func(l *holdfast.Lease) context.Context { return l.Context() },
		"bound":   func(l *holdfast.Lease) context.Context { return l.Bind(t.Context()) },
		"derived": func(l *holdfast.Lease) context.Context { return context.WithValue(l.Context(), valueKey{}, 1) },
	} {
		ctx := hide(x.lock(t.Context(), name))
		x.renewed()
		l, ok := holdfast.FromContext(ctx, name)
		if !ok || ctx.Err() != nil {
			t.Fatalf("%s: %v: not held", name, ctx.Err())
		}
		if err := l.Unlock(); err != nil {
			t.Error(err)
		}
	}
	if n := x.leaked(); n > 0 {
		t.Errorf("%d leaks were told", n)
	}
}

// A lease that was unlocked is no leak.
func TestUnlockedLeaseIsNoLeak(t *testing.T) {
	x := newLeakTest(t)
	for range 100 {
		if err := x.lock(t.Context(), "k").Unlock(); err != nil {
			t.Fatal(err)
		}
	}
	l := x.lock(t.Context(), "other")
	x.renewed()
	if err := l.Unlock(); err != nil || x.leaked() > 0 {
		t.Errorf("%v, %d leaks", err, x.leaked())
	}
}

// Whoever kept nothing of a lease but its Done channel hears that it ended.
func TestDoneOfForgottenLease(t *testing.T) {
	for name, noRenew := range map[string]bool{"renewed": false, "not renewed": true} {
		t.Run(name, func(t *testing.T) {
			x := newLeakTest(t)
			l, err := x.c.Mutex("k", &holdfast.MutexOptions{TTL: 2 * time.Second, NoRenew: noRenew}).Lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			done := l.Context().Done()
			x.until("done", func() bool {
				select {
				case <-done:
					return true
				default:
					return false
				}
			})
		})
	}
}
