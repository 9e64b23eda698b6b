package holdfast_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

func TestLockUnlock(t *testing.T) {
	inBubble(t, func(w *world) {
		a, b := w.open(nil), w.open(nil)
		l := w.lock(a, "invoice:42", nil)
		_, err := b.Mutex("invoice:42", nil).TryLock(w.Context())
		w.is(err, holdfast.ErrHeld)
		w.unlock(l)
		l2 := w.lock(b, "invoice:42", nil)
		if l2.Token() <= l.Token() {
			t.Errorf("token %d does not exceed %d", l2.Token(), l.Token())
		}
		w.unlock(l2)
		w.is(l2.Unlock(), holdfast.ErrNotHeld)
	})
}

// A lease ends at sent + TTL − (TTL/100 + 2 ms + TTL/10), by its own clock.
func TestDeadlineWithoutNetwork(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		sent := time.Now()
		l := w.lock(a, "k", &holdfast.MutexOptions{TTL: 10 * time.Second})
		want := sent.Add(10*time.Second - 100*time.Millisecond - 2*time.Millisecond - time.Second)
		if !l.Deadline().Equal(want) {
			t.Errorf("deadline %v after sending, want %v", l.Deadline().Sub(sent), want.Sub(sent))
		}
		a.net.Partition(nil)
		<-l.Context().Done()
		if got := time.Now(); !got.Equal(want) {
			t.Errorf("context ended %v after sending, want %v", got.Sub(sent), want.Sub(sent))
		}
		w.is(context.Cause(l.Context()), holdfast.ErrLost)
		w.is(l.Check(), holdfast.ErrLost)
		if w.free("k") {
			t.Error("the name is free at the deadline: the margin is gone")
		}
		w.is(l.Unlock(), holdfast.ErrLost)
		a.net.Heal()
	})
}

// Renewals leave every third of the TTL and keep the lease for ever.
func TestRenewal(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		start := time.Now()
		l := w.lock(a, "k", &holdfast.MutexOptions{TTL: 30 * time.Second})
		time.Sleep(time.Hour)
		synctest.Wait()
		if err := l.Check(); err != nil {
			t.Fatal(err)
		}
		calls := a.calls(drivertest.Renew)
		if len(calls) != 360 {
			t.Errorf("%d renewals in an hour, want 360", len(calls))
		}
		for i, c := range calls {
			if want := time.Duration(i+1) * 10 * time.Second; c.At.Sub(start) != want {
				t.Fatalf("renewal %d left after %v, want %v", i, c.At.Sub(start), want)
			}
		}
		w.unlock(l)
	})
}
