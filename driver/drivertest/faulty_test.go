package drivertest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/store/memstore"
)

// bubble runs fn in virtual time with a faulty client and a sound one of the
// same place.
func bubble(t *testing.T, fn func(t *testing.T, f *drivertest.Faulty, sound driver.Store)) {
	synctest.Test(t, func(t *testing.T) {
		server := memstore.NewServer()
		f := drivertest.NewFaulty(server.Store())
		fn(t, f, server.Store())
		if err := f.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

func ask(owner string) driver.Request {
	return driver.Request{
		Name: "n", Kind: driver.Mutex, Owner: owner, TTL: time.Minute,
		NotAfter: time.Now().Add(3 * time.Second),
	}
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func holder(t *testing.T, s driver.Store) string {
	t.Helper()
	hs, err := s.(driver.Inspector).Inspect(t.Context(), "n")
	if err != nil {
		t.Fatalf("Inspect: %v", err)
	}
	if len(hs) == 0 {
		return ""
	}
	return hs[0].Owner
}

func TestFaultyTry(t *testing.T) {
	const later = time.Second
	broken := driver.ErrUnknown
	for _, c := range []struct {
		name  string
		fault drivertest.Fault
		err   error
		took  time.Duration
		held  bool // at the end of the call
		after bool // a minute less a second later
	}{
		{"none", drivertest.Fault{}, nil, 0, true, true},
		{"late request", drivertest.Fault{Before: later}, nil, later, true, true},
		{"late reply", drivertest.Fault{After: later}, nil, later, true, true},
		{"request after the caller left", drivertest.Fault{Before: 2500 * time.Millisecond}, driver.ErrUnknown, 2 * later, false, true},
		{"request after NotAfter", drivertest.Fault{Before: 3*time.Second + 1}, driver.ErrUnknown, 2 * later, false, false},
		{"lost request", drivertest.Fault{LoseRequest: true}, driver.ErrUnknown, 2 * later, false, false},
		{"refused connection", drivertest.Fault{LoseRequest: true, Err: driver.ErrUnavailable}, driver.ErrUnavailable, 0, false, false},
		{"lost reply", drivertest.Fault{LoseReply: true}, driver.ErrUnknown, 2 * later, true, true},
		{"broken connection", drivertest.Fault{LoseReply: true, Err: broken}, driver.ErrUnknown, 0, true, true},
		{"lost and sent again", drivertest.Fault{LoseRequest: true, Again: []time.Duration{3 * later}}, driver.ErrUnknown, 2 * later, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *drivertest.Faulty, sound driver.Store) {
				f.Next(drivertest.Try, c.fault)
				start := time.Now()
				g, err := f.Try(within(t, 2*time.Second), ask("a"))
				if !errors.Is(err, c.err) {
					t.Errorf("Try: %v, want %v", err, c.err)
				}
				if took := time.Since(start); took != c.took {
					t.Errorf("Try took %v, want %v", took, c.took)
				}
				if err == nil && !g.Validity.Sent.Equal(start) {
					t.Errorf("valid from %v after the call, want from the call", g.Validity.Sent.Sub(start))
				}
				synctest.Wait()
				if held := holder(t, sound) == "a"; held != c.held {
					t.Errorf("held after the call: %v, want %v", held, c.held)
				}
				<-time.After(time.Until(start.Add(59 * time.Second)))
				if held := holder(t, sound) == "a"; held != c.after {
					t.Errorf("held later: %v, want %v", held, c.after)
				}
			})
		})
	}
}

func TestFaultyReleaseArrivesAgain(t *testing.T) {
	bubble(t, func(t *testing.T, f *drivertest.Faulty, sound driver.Store) {
		g, err := f.Try(t.Context(), ask("a"))
		if err != nil {
			t.Fatalf("Try: %v", err)
		}
		f.Next(drivertest.Release, drivertest.Fault{Again: []time.Duration{time.Second}})
		if rel, err := f.Release(t.Context(), g.Hold); err != nil || !rel.Freed {
			t.Fatalf("Release: %+v, %v", rel, err)
		}
		if _, err := sound.Try(t.Context(), ask("a")); err != nil { // what no core would do
			t.Fatalf("Try: %v", err)
		}
		<-time.After(time.Second)
		synctest.Wait()
		if got := holder(t, sound); got != "" {
			t.Errorf("%q still holds: the copy of the release did not arrive", got)
		}
	})
}

func TestFaultyRenewDisturbsSingleHolds(t *testing.T) {
	bubble(t, func(t *testing.T, f *drivertest.Faulty, _ driver.Store) {
		var hs []driver.Hold
		for _, name := range []string{"x", "y", "z"} {
			r := ask("a")
			r.Name = name
			g, err := f.Try(t.Context(), r)
			if err != nil {
				t.Fatalf("Try: %v", err)
			}
			hs = append(hs, g.Hold)
		}
		f.Plan(func(c drivertest.Call) drivertest.Fault {
			switch c.Name {
			case "x":
				return drivertest.Fault{LoseReply: true}
			case "y":
				return drivertest.Fault{After: time.Second}
			}
			return drivertest.Fault{}
		})
		start := time.Now()
		var order []int
		took := map[int]time.Duration{}
		errs := map[int]error{}
		f.Renew(within(t, 2*time.Second), hs, func(i int, v driver.Validity, err error) {
			order = append(order, i)
			took[i], errs[i] = time.Since(start), err
			if err == nil && !v.Sent.Equal(start) {
				t.Errorf("hold %d is valid from %v after the call", i, v.Sent.Sub(start))
			}
		})
		if !slices.Equal(order, []int{2, 1, 0}) {
			t.Errorf("order of answers %v, want [2 1 0]", order)
		}
		if took[2] != 0 || took[1] != time.Second || took[0] != 2*time.Second {
			t.Errorf("answers took %v", took)
		}
		if errs[2] != nil || errs[1] != nil || !errors.Is(errs[0], driver.ErrUnknown) {
			t.Errorf("answers: %v", errs)
		}
		cs := f.Calls(drivertest.Renew)
		if len(cs) != 3 || cs[0].N != cs[2].N {
			t.Errorf("recorded %+v, want three entries of one call", cs)
		}
	})
}

func TestFaultyPartition(t *testing.T) {
	bubble(t, func(t *testing.T, f *drivertest.Faulty, sound driver.Store) {
		var told []driver.Event
		f.Attach(driver.ClientInfo{}, func(e driver.Event) { told = append(told, e) })
		g, err := f.Try(t.Context(), ask("a"))
		if err != nil {
			t.Fatalf("Try: %v", err)
		}
		f.Partition(nil)
		if err := sound.(driver.Breaker).Break(t.Context(), "n", "a", g.Hold.Token, false); err != nil {
			t.Fatalf("Break: %v", err)
		}
		if len(told) > 0 {
			t.Errorf("an event passed the partition: %v", told)
		}
		start := time.Now()
		if _, err := f.Release(within(t, time.Second), g.Hold); !errors.Is(err, driver.ErrUnknown) || time.Since(start) != time.Second {
			t.Errorf("Release: %v after %v, want silence for 1s", err, time.Since(start))
		}
		f.Partition(driver.ErrUnavailable)
		if _, err := f.Release(t.Context(), g.Hold); !errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("Release: %v, want %v", err, driver.ErrUnavailable)
		}
		f.Heal()
		if rel, err := f.Release(t.Context(), g.Hold); err != nil || !rel.Freed {
			t.Errorf("Release after Heal: %+v, %v", rel, err)
		}
	})
}

func TestFaultyPartitionLosesReplyUnderWay(t *testing.T) {
	bubble(t, func(t *testing.T, f *drivertest.Faulty, sound driver.Store) {
		f.Next(drivertest.Try, drivertest.Fault{After: time.Second})
		time.AfterFunc(time.Second/2, func() { f.Partition(nil) })
		if _, err := f.Try(within(t, 2*time.Second), ask("a")); !errors.Is(err, driver.ErrUnknown) {
			t.Errorf("Try: %v, want %v", err, driver.ErrUnknown)
		}
		if got := holder(t, sound); got != "a" {
			t.Errorf("holder %q, want a", got)
		}
	})
}

func TestFaultyFreeze(t *testing.T) {
	bubble(t, func(t *testing.T, f *drivertest.Faulty, sound driver.Store) {
		f.Freeze()
		if _, err := f.Try(within(t, time.Second), ask("a")); !errors.Is(err, driver.ErrUnknown) {
			t.Errorf("Try: %v, want %v", err, driver.ErrUnknown)
		}
		if got := holder(t, sound); got != "" {
			t.Errorf("a frozen store granted to %q", got)
		}
		f.Thaw()
		synctest.Wait()
		if got := holder(t, sound); got != "a" {
			t.Errorf("holder after Thaw %q, want a: the request was lost", got)
		}
	})
}

func TestFaultyWait(t *testing.T) {
	release := func(s driver.Store) { _, _ = s.Release(context.Background(), driver.Hold{Name: "n", Owner: "b"}) }
	for _, c := range []struct {
		name  string
		fault drivertest.Fault
		do    func(f *drivertest.Faulty, sound driver.Store) // a second after the start
		took  time.Duration
	}{
		{"signal", drivertest.Fault{}, func(_ *drivertest.Faulty, s driver.Store) { release(s) }, time.Second},
		{"late signal", drivertest.Fault{After: time.Second}, func(_ *drivertest.Faulty, s driver.Store) { release(s) }, 2 * time.Second},
		{"lost signal", drivertest.Fault{LoseReply: true}, func(_ *drivertest.Faulty, s driver.Store) { release(s) }, time.Minute},
		{"late call", drivertest.Fault{Before: 2 * time.Second}, func(_ *drivertest.Faulty, s driver.Store) { release(s) }, 2 * time.Second},
		{"expiry", drivertest.Fault{}, func(*drivertest.Faulty, driver.Store) {}, time.Minute},
		{"partition", drivertest.Fault{}, func(f *drivertest.Faulty, s driver.Store) { f.Partition(nil); release(s) }, time.Minute},
		{"heal", drivertest.Fault{}, func(f *drivertest.Faulty, _ driver.Store) {
			f.Partition(nil)
			time.AfterFunc(time.Second, f.Heal)
		}, 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *drivertest.Faulty, sound driver.Store) {
				if _, err := sound.Try(t.Context(), ask("b")); err != nil {
					t.Fatalf("Try: %v", err)
				}
				_, err := f.Try(t.Context(), ask("a"))
				var b *driver.Busy
				if !errors.As(err, &b) {
					t.Fatalf("Try: %v, want *Busy", err)
				}
				f.Next(drivertest.Wait, c.fault)
				start := time.Now()
				time.AfterFunc(time.Second, func() { c.do(f, sound) })
				if err := f.Wait(t.Context(), ask("a"), b); err != nil {
					t.Errorf("Wait: %v", err)
				}
				if took := time.Since(start); took != c.took {
					t.Errorf("Wait took %v, want %v", took, c.took)
				}
			})
		})
	}
}

func TestFaultyEndsCalls(t *testing.T) {
	calls := map[string]func(ctx context.Context, f *drivertest.Faulty, b *driver.Busy) error{
		"Try": func(ctx context.Context, f *drivertest.Faulty, _ *driver.Busy) error {
			_, err := f.Try(ctx, ask("a"))
			return err
		},
		"Wait": func(ctx context.Context, f *drivertest.Faulty, b *driver.Busy) error { return f.Wait(ctx, ask("a"), b) },
		"Renew": func(ctx context.Context, f *drivertest.Faulty, _ *driver.Busy) (err error) {
			f.Renew(ctx, []driver.Hold{{Name: "n", Owner: "b"}}, func(_ int, _ driver.Validity, e error) { err = e })
			return err
		},
	}
	for name, call := range calls {
		for _, slow := range []drivertest.Fault{{Before: time.Hour}, {After: time.Hour}} {
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T, f *drivertest.Faulty, sound driver.Store) {
					if _, err := sound.Try(t.Context(), ask("b")); err != nil {
						t.Fatalf("Try: %v", err)
					}
					_, err := f.Try(t.Context(), ask("a"))
					var b *driver.Busy
					if !errors.As(err, &b) {
						t.Fatalf("Try: %v, want *Busy", err)
					}
					f.Plan(func(drivertest.Call) drivertest.Fault { return slow })
					err = call(within(t, time.Second), f, b)
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("with an ended ctx: %v", err)
					}
					time.AfterFunc(time.Second, func() { _ = f.Close(context.Background()) })
					if err := call(t.Context(), f, b); !errors.Is(err, driver.ErrClosed) {
						t.Errorf("at Close: %v, want %v", err, driver.ErrClosed)
					}
				})
			})
		}
	}
}
