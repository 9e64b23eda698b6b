package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// sentinels are the kinds of failure that this package has.
var sentinels = map[string]error{
	"ErrHeld": holdfast.ErrHeld, "ErrTooManyWaiters": holdfast.ErrTooManyWaiters, "ErrLost": holdfast.ErrLost,
	"ErrMaxHold": holdfast.ErrMaxHold, "ErrRevoked": holdfast.ErrRevoked, "ErrNotHeld": holdfast.ErrNotHeld,
	"ErrDeadlock": holdfast.ErrDeadlock, "ErrKind": holdfast.ErrKind, "ErrUnavailable": holdfast.ErrUnavailable,
	"ErrRefused": holdfast.ErrRefused, "ErrNoQuorum": holdfast.ErrNoQuorum, "ErrNotReplicated": holdfast.ErrNotReplicated,
	"ErrUnknown": holdfast.ErrUnknown, "ErrCorrupt": holdfast.ErrCorrupt, "ErrInvalid": holdfast.ErrInvalid,
	"ErrClosed": holdfast.ErrClosed, "Canceled": context.Canceled, "DeadlineExceeded": context.DeadlineExceeded,
}

func TestSentinelsDiffer(t *testing.T) {
	for a, x := range sentinels {
		for b, y := range sentinels {
			if a != b && errors.Is(x, y) {
				t.Errorf("%s matches %s", a, b)
			}
		}
	}
}

// Every kind of failure can be met, matches what it is and nothing else, names
// the lock, and says what to do.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(w *world, a, b *client) error
		is   []string
		text []string // parts of the message, beside the lock's name
	}{
		{"held", func(w *world, a, b *client) error {
			w.lock(b, "k", nil)
			return a.Mutex("k", nil).TryDo(w.Context(), nothing)
		}, []string{"ErrHeld"}, []string{"held by ", "for up to 30s"}},
		{"wait over", func(w *world, a, b *client) error {
			w.lock(b, "k", nil)
			return a.Mutex("k", &holdfast.MutexOptions{Wait: time.Second}).Do(w.Context(), nothing)
		}, []string{"ErrHeld", "DeadlineExceeded"}, []string{"held by ", "waited 1s"}},
		{"cancelled", func(w *world, a, b *client) error {
			w.lock(b, "k", nil)
			ctx, cancel := context.WithCancel(w.Context())
			time.AfterFunc(time.Second, cancel)
			return a.Mutex("k", nil).Do(ctx, nothing)
		}, []string{"ErrHeld", "Canceled"}, []string{"held by ", "waited 1s", "canceled"}},
		{"cancelled before", func(w *world, a, b *client) error {
			ctx, cancel := context.WithCancel(w.Context())
			cancel()
			return a.Mutex("k", nil).Do(ctx, nothing)
		}, []string{"Canceled"}, nil},
		{"cancelled at a dead store", func(w *world, a, b *client) error {
			w.contact(a)
			a.net.Partition(driver.ErrUnavailable)
			ctx, cancel := context.WithTimeout(w.Context(), time.Second)
			defer cancel()
			return a.Mutex("k", nil).Do(ctx, nothing)
		}, []string{"DeadlineExceeded", "ErrUnavailable"}, []string{"reachable"}},
		{"resting", func(w *world, a, b *client) error {
			w.unlock(w.lock(b, "k", &holdfast.MutexOptions{AtLeast: time.Minute}))
			return a.Mutex("k", nil).TryDo(w.Context(), nothing)
		}, []string{"ErrHeld"}, []string{"AtLeast", "1m0s"}},
		{"too many waiters", func(w *world, a, b *client) error {
			w.lock(b, "k", nil)
			go a.Mutex("k", nil).Lock(w.Context())
			synctest.Wait()
			return a.Mutex("k", &holdfast.MutexOptions{MaxWaiters: 1}).Do(w.Context(), nothing)
		}, []string{"ErrHeld", "ErrTooManyWaiters"}, []string{"MaxWaiters"}},
		{"deadlock", func(w *world, a, b *client) error {
			l := w.lock(a, "k", nil)
			return a.Mutex("k", nil).Do(l.Context(), nothing)
		}, []string{"ErrHeld", "ErrDeadlock"}, []string{"Reentrant"}},
		{"lost", func(w *world, a, b *client) error {
			l := w.lock(a, "k", &holdfast.MutexOptions{NoRenew: true})
			time.Sleep(30 * time.Second)
			return l.Check()
		}, []string{"ErrLost"}, []string{"fencing token"}},
		{"maximum hold", func(w *world, a, b *client) error {
			l := w.lock(a, "k", &holdfast.MutexOptions{MaxHold: time.Second})
			time.Sleep(time.Second)
			return l.Check()
		}, []string{"ErrMaxHold"}, []string{"raise MaxHold"}},
		{"revoked", func(w *world, a, b *client) error {
			l := w.lock(a, "k", nil)
			b.net.Break(w.Context(), "k", a.calls(drivertest.Try)[0].Owner, l.Token(), false)
			return l.Check()
		}, []string{"ErrRevoked"}, []string{"ask who"}},
		{"unlocked twice", func(w *world, a, b *client) error {
			l := w.lock(a, "k", nil)
			w.unlock(l)
			return l.Unlock()
		}, []string{"ErrNotHeld"}, []string{"once"}},
		{"nobody holds it", func(w *world, a, b *client) error {
			_, err := a.Holder(w.Context(), "k")
			return err
		}, []string{"ErrNotHeld"}, []string{"nobody"}},
		{"kind", fails(driver.ErrKind), []string{"ErrKind"}, []string{"another name"}},
		{"corrupt", fails(driver.ErrCorrupt), []string{"ErrCorrupt"}, []string{"inspect"}},
		{"refused", fails(driver.ErrRefused), []string{"ErrRefused"}, nil},
		{"unreachable", fails(driver.ErrUnavailable), []string{"ErrUnavailable"}, []string{"reachable"}},
		{
			"unreachable in time",
			fails(fmt.Errorf("%w: dial: %w", driver.ErrUnavailable, context.DeadlineExceeded)),
			[]string{"ErrUnavailable"},
			[]string{"dial: context deadline exceeded", "reachable"},
		},
		{
			"outcome unknown",
			fails(fmt.Errorf("%w: read: %w", driver.ErrUnknown, context.DeadlineExceeded)),
			[]string{"ErrUnavailable"},
			[]string{"read: context deadline exceeded", "reachable"},
		},
		{"against the contract", fails(errors.New("oops")), []string{"ErrUnavailable"}, []string{"oops"}},
		{"no quorum", fails(fmt.Errorf("%w: %w", driver.ErrUnavailable, holdfast.ErrNoQuorum)), []string{"ErrUnavailable", "ErrNoQuorum"}, nil},
		{"not replicated", fails(fmt.Errorf("%w: %w", driver.ErrRefused, holdfast.ErrNotReplicated)), []string{"ErrRefused", "ErrNotReplicated"}, nil},
		{"inspection", func(w *world, a, b *client) error {
			a.net.Partition(fmt.Errorf("%w: %w", driver.ErrUnavailable, context.Canceled))
			_, err := a.Holder(w.Context(), "k")
			return err
		}, []string{"ErrUnavailable"}, []string{"reachable"}},
		{"inspection cancelled", func(w *world, a, b *client) error {
			a.net.Partition(nil)
			ctx, cancel := context.WithTimeout(w.Context(), time.Second)
			defer cancel()
			_, err := a.Holder(ctx, "k")
			return err
		}, []string{"DeadlineExceeded", "ErrUnavailable"}, nil},
		{"release unconfirmed", func(w *world, a, b *client) error {
			l := w.lock(a, "k", nil)
			a.net.Partition(driver.ErrUnknown)
			return l.Unlock()
		}, []string{"ErrUnavailable"}, []string{"unlock again"}},
		{"release unknown", func(w *world, a, b *client) error {
			l := w.lock(a, "k", nil)
			a.net.Next(drivertest.Release, lostReply(), lostRequest)
			l.Unlock()
			synctest.Wait() // the background has tried, too
			w.lock(b, "k", nil)
			return l.Unlock()
		}, []string{"ErrUnknown"}, []string{"fencing token"}},
		{"invalid", func(w *world, a, b *client) error {
			return a.Mutex("k", &holdfast.MutexOptions{TTL: -time.Second}).Do(w.Context(), nothing)
		}, []string{"ErrInvalid"}, []string{"-1s", "negative", "leave it 0"}},
		{"closed", func(w *world, a, b *client) error {
			a.Close(w.Context())
			return a.Mutex("k", nil).Do(w.Context(), nothing)
		}, []string{"ErrClosed"}, []string{"new client"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				a, b := w.open(nil), w.open(nil)
				err := c.do(w, a, b)
				a.net.Heal()
				if err == nil {
					t.Fatal("no error")
				}
				t.Log(err)
				want := map[string]bool{}
				for _, name := range c.is {
					want[name] = true
				}
				for name, s := range sentinels {
					if got := errors.Is(err, s); got != want[name] {
						t.Errorf("errors.Is(%q, %s) = %v", err, name, got)
					}
				}
				for _, part := range append(c.text, `"k"`) {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%q does not say %q", err, part)
					}
				}
				if s := err.Error(); s != strings.TrimSpace(s) || strings.Contains(s, "\n") || strings.ToLower(s[:1]) != s[:1] {
					t.Errorf("%q is no single line that starts in lower case", s)
				}
			})
		})
	}
}

// fails returns a call that meets this answer of the store.
func fails(err error) func(*world, *client, *client) error {
	return func(w *world, a, _ *client) error {
		a.net.Partition(err)
		return a.Mutex("k", nil).Do(w.Context(), nothing)
	}
}

// A lease that was never taken can be unlocked, with an error.
func TestNilLease(t *testing.T) {
	var l *holdfast.Lease
	if err := l.Unlock(); !errors.Is(err, holdfast.ErrNotHeld) {
		t.Error(err)
	}
}

// The whole owner id is the right to release: nobody is shown it.
func TestOwnerStaysSecret(t *testing.T) {
	inBubble(t, func(w *world) {
		a, b := w.open(nil), w.open(nil)
		l := w.lock(a, "k", nil)
		owner := a.calls(drivertest.Try)[0].Owner
		_, secret, _ := strings.Cut(owner, ":")
		_, err := b.Mutex("k", nil).TryLock(w.Context())
		h, _ := b.Holder(w.Context(), "k")
		for _, shown := range []string{fmt.Sprintf("%+v", err), fmt.Sprintf("%+v", h), fmt.Sprintf("%+v", a.events.of(holdfast.Acquired))} {
			if strings.Contains(shown, secret) {
				t.Errorf("%s shows the owner id %s", shown, owner)
			}
		}
		if h.Fingerprint != l.Fingerprint() || len(h.Fingerprint) != 16 {
			t.Errorf("fingerprints %q and %q", h.Fingerprint, l.Fingerprint())
		}
		w.unlock(l)
	})
}

// Holder tells who holds a lock.
func TestHolder(t *testing.T) {
	inBubble(t, func(w *world) {
		a, b := w.open(&holdfast.Options{Label: "nightly"}), w.open(nil)
		if _, err := b.Holder(w.Context(), "k"); err == nil || err.Error() != `look up "k": nobody holds it` {
			t.Errorf("of a free name: %v", err)
		}
		start := time.Now()
		l := w.lock(a, "k", nil)
		w.sleepTo(start, time.Second)
		h, err := b.Holder(w.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		if h.Name != "k" || h.Kind != "mutex" || h.Owner != a.ID()[:8] || h.Token != l.Token() || h.Label != "nightly" ||
			!h.Since.Equal(start) || !h.Until.Equal(start.Add(30*time.Second)) || h.PID == 0 || h.Program == "" ||
			h.Resting || h.Revoked || h.Waiters != 0 {
			t.Errorf("%+v", h)
		}
		b.net.Break(w.Context(), "k", a.calls(drivertest.Try)[0].Owner, l.Token(), false)
		if h, err = b.Holder(w.Context(), "k"); err != nil || !h.Revoked {
			t.Errorf("%+v, %v", h, err)
		}
		w.unlock(l)
	})
}

// A timeout below a Ping is not the end of its caller's context.
func TestPingError(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.openOn(w.srv.Store(), nil)
		below := fmt.Errorf("%w: dial: %w", driver.ErrUnavailable, context.DeadlineExceeded)
		c, err := holdfast.New(&answering{Store: a.net, err: below}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(context.Background())
		err = c.Ping(w.Context())
		w.is(err, holdfast.ErrUnavailable)
		if errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v: nobody's context has ended", err)
		}
		dead, cancel := context.WithCancel(w.Context())
		cancel()
		w.is(c.Ping(dead), context.Canceled, holdfast.ErrUnavailable)
	})
}
