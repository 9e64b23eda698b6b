package holdfast_test

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

// modest is a store that confirms no more than it was asked for, though it keeps
// what it has, as the contract allows.
type modest struct{ driver.Store }

func (m modest) Renew(ctx context.Context, hs []driver.Hold, done func(int, driver.Validity, error)) {
	m.Store.Renew(ctx, hs, func(i int, v driver.Validity, err error) {
		v.TTL = min(v.TTL, hs[i].TTL)
		done(i, v, err)
	})
}

// A deadline never moves back: a plain renewal after an extension confirms less
// than is known already.
func TestDeadlineOnlyMovesForward(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.openOn(modest{w.srv.Store()}, nil)
		l := w.lock(a, "k", nil)
		if err := l.Extend(w.Context(), 5*time.Minute); err != nil {
			t.Fatal(err)
		}
		far := l.Deadline()
		if err := l.Extend(w.Context(), time.Until(far)+time.Second); err != nil {
			t.Fatal(err)
		}
		for range 600 {
			time.Sleep(time.Second)
			now := l.Deadline()
			if now.Before(far) {
				t.Fatalf("the deadline moved back by %v", far.Sub(now))
			}
			far = now
		}
		w.unlock(l)
	})
}

// Renewal by a second holder of the token: one entry is in one call at a time,
// so a slow renewal delays the next but never overtakes it.
func TestOneRenewalAtATime(t *testing.T) {
	inBubble(t, func(w *world) {
		under := 0
		s := &counting{Store: w.srv.Store(), under: &under}
		a := w.openOn(s, nil)
		l := w.lock(a, "k", &holdfast.MutexOptions{TTL: 3 * time.Second})
		for range 20 {
			if err := l.Extend(w.Context(), 3*time.Second); err != nil {
				t.Fatal(err)
			}
			time.Sleep(700 * time.Millisecond)
		}
		if s.most > 1 {
			t.Errorf("%d renewals of one hold at the same time", s.most)
		}
		w.unlock(l)
	})
}

// counting counts the renewals under way, which take half a second each.
type counting struct {
	driver.Store
	under *int
	most  int
}

func (c *counting) Renew(ctx context.Context, hs []driver.Hold, done func(int, driver.Validity, error)) {
	*c.under++
	c.most = max(c.most, *c.under)
	time.Sleep(500 * time.Millisecond)
	c.Store.Renew(ctx, hs, done)
	*c.under--
}
