package holdfast_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// networks are ways in which a store's requests and replies fare. Delays are
// multiples of 20 ms, so that a cancellation every 10 ms meets each await point
// of a call both on an edge and between two.
var networks = map[string]func(r *rand.Rand) drivertest.Fault{
	"fair": func(*rand.Rand) drivertest.Fault { return drivertest.Fault{} },
	"slow": func(*rand.Rand) drivertest.Fault {
		return drivertest.Fault{Before: 20 * time.Millisecond, After: 20 * time.Millisecond}
	},
	"loses requests": func(r *rand.Rand) drivertest.Fault {
		return drivertest.Fault{Before: 20 * time.Millisecond, LoseRequest: r.IntN(2) == 0}
	},
	"loses replies": func(r *rand.Rand) drivertest.Fault {
		return drivertest.Fault{Before: 20 * time.Millisecond, LoseReply: r.IntN(2) == 0}
	},
	"duplicates": func(r *rand.Rand) drivertest.Fault {
		return drivertest.Fault{Before: 20 * time.Millisecond, Again: []time.Duration{
			time.Duration(r.IntN(10)) * 20 * time.Millisecond,
			time.Duration(r.IntN(100)) * 20 * time.Millisecond,
		}}
	},
	"anything": func(r *rand.Rand) drivertest.Fault {
		f := drivertest.Fault{
			Before:    time.Duration(r.IntN(4)) * 20 * time.Millisecond,
			After:     time.Duration(r.IntN(4)) * 20 * time.Millisecond,
			LoseReply: r.IntN(4) == 0, LoseRequest: r.IntN(4) == 0,
		}
		if r.IntN(3) == 0 {
			f.Again = []time.Duration{time.Duration(r.IntN(50)) * 20 * time.Millisecond}
		}
		return f
	},
}

// Whenever a caller leaves Lock or Do, it is gone at once, and a while later so
// is everything that it had asked for.
func TestCancelAnywhere(t *testing.T) {
	for name, network := range networks {
		for _, held := range []bool{false, true} {
			for at := time.Duration(0); at <= 300*time.Millisecond; at += 10 * time.Millisecond {
				t.Run(fmt.Sprintf("%s/held=%v/%v", name, held, at), func(t *testing.T) {
					inBubble(t, func(w *world) { cancelAt(w, network, held, at) })
				})
			}
		}
	}
}

const cancelTTL = 3 * time.Second

func cancelAt(w *world, network func(*rand.Rand) drivertest.Fault, held bool, at time.Duration) {
	if held { // somebody else has it for part of the time
		l := w.lock(w.open(nil), "k", nil)
		time.AfterFunc(110*time.Millisecond, func() { l.Unlock() })
	}
	synctest.Wait()
	idle := w.goroutines()
	a := w.open(nil)
	a.Holder(w.Context(), "k") // any answer will do for the first contact
	a.net.Plan(func(c drivertest.Call) drivertest.Fault {
		return network(rand.New(rand.NewPCG(uint64(c.N), uint64(at))))
	})

	calls := map[string]func(context.Context){
		"Lock": func(ctx context.Context) {
			l, err := a.Mutex("k", &holdfast.MutexOptions{TTL: cancelTTL}).Lock(ctx)
			if err == nil {
				<-ctx.Done()
				go l.Unlock()
			}
		},
		"TryLock": func(ctx context.Context) {
			l, err := a.Mutex("k", &holdfast.MutexOptions{TTL: cancelTTL}).TryLock(ctx)
			if err == nil {
				go l.Unlock()
			}
		},
		"Lock and forget": func(ctx context.Context) {
			a.Mutex("k", &holdfast.MutexOptions{TTL: cancelTTL, NoRenew: true}).Lock(ctx)
		},
	}
	ctx, cancel := context.WithCancel(context.Background())
	returned := make(chan string, len(calls))
	for what, call := range calls {
		go func() {
			call(ctx)
			returned <- what
		}()
	}
	time.Sleep(at)
	synctest.Wait()
	cancel()
	asked := time.Now()
	for range calls {
		what := <-returned
		if late := time.Since(asked); late > 0 {
			w.Errorf("%s returned %v after its context ended", what, late)
		}
	}
	time.Sleep(3*cancelTTL + time.Second) // NotAfter + TTL, and the last copies
	synctest.Wait()
	if n := a.Holds(); n > 0 {
		w.Errorf("%d holds are left", n)
	}
	if n := a.GiveBacks(); n > 0 {
		w.Errorf("%d give-backs are left", n)
	}
	if n := a.Queues(); n > 0 {
		w.Errorf("%d local queues are left", n)
	}
	if !w.free("k") {
		w.Error("the name is still taken")
	}
	// The renewer's and the reaper's goroutines are the client's until Close.
	if n := w.goroutines() - idle; n > 2 {
		w.Errorf("%d goroutines are left", n)
	}
}

// Do whose context ends while it waits does not run its function; while it
// works, the function's context ends.
func TestCancelDo(t *testing.T) {
	for at := time.Duration(0); at <= 200*time.Millisecond; at += 10 * time.Millisecond {
		t.Run(at.String(), func(t *testing.T) {
			inBubble(t, func(w *world) {
				a := w.open(nil)
				a.net.Plan(func(drivertest.Call) drivertest.Fault {
					return drivertest.Fault{Before: 40 * time.Millisecond, After: 40 * time.Millisecond}
				})
				ctx, cancel := context.WithTimeout(context.Background(), at)
				defer cancel()
				ran := false
				err := a.Do(ctx, "k", func(ctx context.Context, l *holdfast.Lease) error {
					ran = true
					<-ctx.Done()
					return ctx.Err()
				})
				w.is(err, context.DeadlineExceeded)
				// At 80 ms both things happen at once, and either may win.
				if want := at > 80*time.Millisecond; ran != want && at != 80*time.Millisecond {
					w.Errorf("ran = %v, want %v", ran, want)
				}
				time.Sleep(10 * time.Second)
				synctest.Wait()
				if !w.free("k") || a.GiveBacks() > 0 {
					w.Error("the name is still taken")
				}
			})
		})
	}
}

// What the store granted to a caller who left is given back as soon as it is
// known, long before its TTL would free it.
func TestGivenBackSoon(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault drivertest.Fault
		free  time.Duration // after the call
	}{
		{"slow reply", drivertest.Fault{After: time.Second}, time.Second},
		{"slow request", drivertest.Fault{Before: time.Second}, time.Second},
		{"lost reply", drivertest.Fault{LoseReply: true}, 3 * time.Second},
		{"broken connection", drivertest.Fault{LoseReply: true, Err: driver.ErrUnknown}, 0},
		{"copy after a broken connection", drivertest.Fault{
			LoseRequest: true, Err: driver.ErrUnknown, Again: []time.Duration{2 * time.Second},
		}, 3 * time.Second},
		{"copy of a lost request", drivertest.Fault{LoseRequest: true, Again: []time.Duration{2 * time.Second}}, 3 * time.Second},
	} {
		for how, lock := range map[string]func(*holdfast.Mutex, context.Context) (*holdfast.Lease, error){
			"Lock": (*holdfast.Mutex).Lock, "TryLock": (*holdfast.Mutex).TryLock,
		} {
			t.Run(test.name+"/"+how, func(t *testing.T) {
				inBubble(t, func(w *world) {
					a := w.open(nil)
					w.unlock(w.lock(a, "contact", nil))
					a.net.Next(drivertest.Try, test.fault)
					ctx, cancel := context.WithTimeout(w.Context(), 500*time.Millisecond)
					defer cancel()
					start := time.Now()
					go lock(a.Mutex("k", &holdfast.MutexOptions{TTL: time.Hour}), ctx)
					synctest.Wait()
					cancel()
					time.Sleep(time.Until(start.Add(test.free + 50*time.Millisecond)))
					synctest.Wait()
					if !w.free("k") {
						t.Errorf("still taken %v after the call", time.Since(start))
					}
					time.Sleep(5 * time.Second)
					if n := a.GiveBacks(); n > 0 {
						t.Errorf("%d give-backs are left", n)
					}
				})
			})
		}
	}
}

// A grant that arrives in the same instant in which its caller leaves is given
// back or delivered, never kept by nobody.
func TestGrantMeetsCancel(t *testing.T) {
	for i := range 200 {
		inBubble(t, func(w *world) {
			a := w.open(nil)
			a.net.Next(drivertest.Try, drivertest.Fault{Before: time.Second})
			ctx, cancel := context.WithTimeout(w.Context(), time.Second)
			defer cancel()
			for range 8 { // who leave together, so that the grant arrives among them
				go func() {
					l, err := a.Mutex("k", nil).Lock(ctx)
					if err != nil {
						return
					}
					if err := l.Unlock(); err != nil {
						t.Errorf("round %d: unlock: %v", i, err)
					}
				}()
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if !w.free("k") {
				t.Fatalf("round %d: taken by nobody", i)
			}
		})
	}
}

// However long a store is silent and however many calls give up on it, what is to
// be given back does not pile up: it is forgotten when its TTL has passed.
func TestGiveBacksDoNotPile(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		w.contact(a)
		a.net.Partition(nil)
		var half int
		for i := range 4000 {
			ctx, cancel := context.WithTimeout(w.Context(), 50*time.Millisecond)
			if _, err := a.Mutex(fmt.Sprint(i), nil).TryLock(ctx); err == nil {
				t.Fatal("granted by a store that is cut off")
			}
			cancel()
			if i == 2000 {
				half = a.GiveBacks()
			}
		}
		if n := a.GiveBacks(); n > half+half/10 { // as many come as go
			t.Errorf("%d give-backs after 200 s, %d after 100 s", n, half)
		}
		a.net.Heal()
	})
}
