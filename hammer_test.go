package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/store/memstore"
)

// Many goroutines of several clients do everything at once, in real time, over a
// network that loses and delays. Nobody is ever inside together: the counters
// have no other protection than the locks, which the race detector checks too.
func TestHammer(t *testing.T) {
	const clients, goroutines = 4, 8
	rounds := 40
	if testing.Short() {
		rounds = 4
	}
	var counters, entered [3]int // by name
	var mu sync.Mutex            // guards entered
	server := memstore.NewServer()
	var workers sync.WaitGroup
	for range clients {
		net := drivertest.NewFaulty(server.Store())
		c, err := holdfast.New(net, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(context.Background())
		if _, err := c.Holder(t.Context(), "first contact"); !errors.Is(err, holdfast.ErrNotHeld) {
			t.Fatal(err)
		}
		net.Plan(rough)
		for range goroutines {
			workers.Go(func() {
				for range rounds {
					which := rand.N(len(counters))
					inside := func() { counters[which]++ }
					if visit(t, c, fmt.Sprint("name ", which), inside) {
						mu.Lock()
						entered[which]++
						mu.Unlock()
					}
				}
			})
		}
	}
	workers.Wait()
	if counters != entered {
		t.Errorf("counted %v, entered %v times: updates were lost", counters, entered)
	}
	if n := entered[0] + entered[1] + entered[2]; n < clients*goroutines*rounds/4 {
		t.Errorf("entered %d times only", n)
	}
}

// rough loses and delays a part of the requests and replies.
func rough(drivertest.Call) drivertest.Fault {
	switch rand.N(40) {
	case 0:
		return drivertest.Fault{LoseReply: true, Err: driver.ErrUnknown}
	case 1:
		return drivertest.Fault{LoseRequest: true, Err: driver.ErrUnknown}
	case 2:
		return drivertest.Fault{Before: rand.N(2 * time.Millisecond), After: rand.N(2 * time.Millisecond)}
	}
	return drivertest.Fault{}
}

// visit takes a lock in some way, and reports whether it got inside.
func visit(t *testing.T, c *holdfast.Client, name string, inside func()) bool {
	m := c.Mutex(name, &holdfast.MutexOptions{TTL: 10 * time.Second})
	ctx, cancel := context.WithTimeout(t.Context(), rand.N(200*time.Millisecond))
	defer cancel()
	lock := m.Lock
	if rand.N(4) == 0 {
		lock = m.TryLock
	}
	l, err := lock(ctx)
	if err != nil {
		if !errors.Is(err, holdfast.ErrHeld) && !errors.Is(err, holdfast.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		return false
	}
	inside()
	if rand.N(4) == 0 {
		if err := l.Extend(context.Background(), 20*time.Second); err != nil && !errors.Is(err, holdfast.ErrUnavailable) {
			t.Error(err)
		}
	}
	if err := l.Check(); err != nil {
		t.Error(err)
	}
	if err := l.Unlock(); err != nil && !errors.Is(err, holdfast.ErrUnavailable) {
		t.Error(err)
	}
	return true
}
