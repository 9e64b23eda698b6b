package holdfast_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// Ten thousand held locks cost a handful of goroutines, and their renewals a
// handful of requests.
func TestManyHolds(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		w.unlock(w.lock(a, "warm up", nil))
		synctest.Wait()
		before := w.goroutines()
		leases := make([]*holdfast.Lease, 10_000)
		for i := range leases {
			leases[i] = w.lock(a, fmt.Sprint("job:", i), nil)
		}
		synctest.Wait()
		if n := w.goroutines() - before; n > 20 {
			t.Errorf("10,000 holds have %d goroutines, want at most 20", n)
		}
		a.net.Forget()
		time.Sleep(35 * time.Second)
		batches := map[int]bool{}
		renewed := a.calls(drivertest.Renew)
		for _, c := range renewed {
			batches[c.N] = true
		}
		if len(renewed) != 30_000 || len(batches) > 30 {
			t.Errorf("35 s took %d renewals in %d requests, want 30,000 in a few", len(renewed), len(batches))
		}
		for _, l := range leases {
			if err := l.Check(); err != nil {
				t.Fatal(err)
			}
			w.unlock(l)
		}
	})
}

// Locking and unlocking leaves nothing behind in the client.
func TestNothingPiles(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		w.unlock(w.lock(a, "warm up", nil))
		synctest.Wait()
		before := w.goroutines()
		for i := range 10_000 {
			l := w.lock(a, fmt.Sprint("order:", i), nil)
			w.unlock(l)
		}
		synctest.Wait()
		if n := w.goroutines() - before; n > 0 {
			t.Errorf("%d goroutines more than before", n)
		}
		if a.Queues() > 0 || a.Holds() > 0 || a.GiveBacks() > 0 {
			t.Errorf("left: %d queues, %d holds, %d give-backs", a.Queues(), a.Holds(), a.GiveBacks())
		}
	})
}

// An uncontended lock and unlock is one request each.
func TestRequestsPerLock(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		w.unlock(w.lock(a, "k", nil))
		a.net.Forget()
		w.unlock(w.lock(a, "k", nil))
		err := a.Mutex("k", nil).Do(w.Context(), func(context.Context, *holdfast.Lease) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if calls := a.net.Calls(); len(calls) != 4 {
			t.Errorf("two locks and unlocks made %d requests, want 4: %v", len(calls), calls)
		}
	})
}
