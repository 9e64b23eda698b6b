package drivertest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Faulty is a store behind a bad network: it passes each call to another store
// and disturbs it as told by Next, Plan, Partition and Freeze. It records every
// call. Its time is package time's, so that it can be used in a testing/synctest
// bubble. Close ends everything that is still on its way.
//
// The calls of a Faulty obey the contract as far as the network allows: they end
// with their ctx, and then say driver.ErrUnknown. Grants and renewals are valid
// from the moment at which the call was made.
type Faulty struct {
	inner driver.Store

	life   context.Context // ends with Close; governs what travels
	end    context.CancelFunc
	travel sync.WaitGroup // what travels; grows under mu while not closed

	mu     sync.Mutex // guards the following
	closed bool
	now    *weather // never changed, only replaced
	notify func(driver.Event)
	log    log
}

// NewFaulty returns a Faulty without faults around inner.
func NewFaulty(inner driver.Store) *Faulty {
	life, end := context.WithCancel(context.Background())
	fair := &weather{}
	fair.epoch, fair.end = context.WithCancel(life)
	return &Faulty{
		inner: inner, life: life, end: end, now: fair,
		log: log{next: map[Method][]Fault{}},
	}
}

// Partition cuts f off: no request, reply, signal or event passes until Heal.
// Calls fail at once with err; if err is nil they hear nothing until their ctx
// ends.
func (f *Faulty) Partition(err error) {
	f.change(func(w *weather) { w.cut, w.cutErr = true, err })
}

// Heal ends a partition. What was lost stays lost, and every Wait returns, as
// after a new connection.
func (f *Faulty) Heal() {
	f.change(func(w *weather) { w.cut, w.cutErr = false, nil })
}

// Freeze stops the store: requests reach it and wait, also when their callers
// give up, until Thaw.
func (f *Faulty) Freeze() { f.change(func(w *weather) { w.frozen = true }) }

// Thaw lets a frozen store go on.
func (f *Faulty) Thaw() { f.change(func(w *weather) { w.frozen = false }) }

// Tell makes the store tell e to its client.
func (f *Faulty) Tell(e driver.Event) {
	f.mu.Lock()
	notify := f.notify
	if f.now.cut || f.closed {
		notify = nil
	}
	f.mu.Unlock()
	if notify != nil {
		notify(e)
	}
}

// Attach implements driver.Host, whether the store behind does or not.
func (f *Faulty) Attach(info driver.ClientInfo, notify func(driver.Event)) {
	f.mu.Lock()
	f.notify = notify
	f.mu.Unlock()
	if h, ok := f.inner.(driver.Host); ok {
		h.Attach(info, f.Tell)
	}
}

// Profile returns the profile of the store behind.
func (f *Faulty) Profile() driver.Profile { return f.inner.Profile() }

// Try implements driver.Store.
func (f *Faulty) Try(ctx context.Context, r driver.Request) (driver.Grant, error) {
	sent := time.Now()
	c := Call{N: f.number(), Method: Try, Name: r.Name, Owner: r.Owner, Request: r}
	g, err := carry(ctx, f, f.record(c), func(ctx context.Context) (driver.Grant, error) {
		return f.inner.Try(ctx, r)
	})
	if err == nil {
		g.Validity.Sent = sent
	}
	return g, err
}

// Release implements driver.Store.
func (f *Faulty) Release(ctx context.Context, h driver.Hold) (driver.Released, error) {
	c := Call{N: f.number(), Method: Release, Name: h.Name, Owner: h.Owner, Hold: h}
	return carry(ctx, f, f.record(c), func(ctx context.Context) (driver.Released, error) {
		return f.inner.Release(ctx, h)
	})
}

// Break implements driver.Breaker.
func (f *Faulty) Break(ctx context.Context, name, owner string, token int64, now bool) error {
	c := Call{N: f.number(), Method: Break, Name: name, Owner: owner}
	_, err := carry(ctx, f, f.record(c), func(ctx context.Context) (struct{}, error) {
		b, ok := f.inner.(driver.Breaker)
		if !ok {
			return struct{}{}, fmt.Errorf("%w: %T is no driver.Breaker", driver.ErrRefused, f.inner)
		}
		return struct{}{}, b.Break(ctx, name, owner, token, now)
	})
	return err
}

// Inspect implements driver.Inspector.
func (f *Faulty) Inspect(ctx context.Context, name string) ([]driver.Holding, error) {
	c := Call{N: f.number(), Method: Inspect, Name: name}
	return carry(ctx, f, f.record(c), func(ctx context.Context) ([]driver.Holding, error) {
		i, ok := f.inner.(driver.Inspector)
		if !ok {
			return nil, fmt.Errorf("%w: %T is no driver.Inspector", driver.ErrRefused, f.inner)
		}
		return i.Inspect(ctx, name)
	})
}

// Close ends all calls with driver.ErrClosed, waits for what still travels, and
// closes the store behind.
func (f *Faulty) Close(ctx context.Context) error {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.end()
	f.travel.Wait()
	return f.inner.Close(ctx)
}
