// Package holdfasttest lets programs test how their own code copes with lost
// locks, dead stores and slow networks.
//
// A [Lab] is a store in memory and the networks between it and its clients, with
// levers. Code under test gets an ordinary *holdfast.Client:
//
//	lab := holdfasttest.New()
//	defer lab.Close()
//	worker, rival := lab.Client(nil), lab.Client(nil)
//
//	go importFeed(ctx, worker.Client) // the code under test
//	…
//	worker.Partition()                // it cannot renew any more
//	lease, err := rival.Mutex("feed", nil).Lock(ctx)
//	// by now importFeed must have stopped
//
// In a testing/synctest bubble the 30 seconds of a TTL pass in no time and every
// instant is exact. Create the Lab inside the bubble then, and close it there.
// Outside of a bubble everything works in real time; give locks a TTL of a second
// or less.
package holdfasttest

import (
	"context"
	"sync"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/store/memstore"
)

// Lab is a place where locks live. It is safe for concurrent use.
type Lab struct {
	server   *memstore.Server
	operator driver.Store // inspects and takes away

	mu      sync.Mutex // guards the following
	clients []*Client
	frozen  bool
}

// New returns a Lab without clients, in which everything works.
func New() *Lab {
	server := memstore.NewServer()
	return &Lab{server: server, operator: server.Store()}
}

// Client returns a new client of the lab's store, as if in a process of its own.
// Nil options mean all defaults; it panics if they are invalid. Its levers act on
// its own network alone.
func (l *Lab) Client(o *holdfast.Options) *Client {
	net := drivertest.NewFaulty(l.server.Store())
	c, err := holdfast.New(net, o)
	if err != nil {
		panic(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	x := &Client{Client: c, net: net}
	l.clients = append(l.clients, x)
	if l.frozen {
		net.Freeze()
	}
	return x
}

// Close closes all clients without waiting for what they hold.
func (l *Lab) Close() {
	l.mu.Lock()
	clients := l.clients
	l.clients = nil
	l.mu.Unlock()
	now, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range clients {
		_ = c.Client.Close(now) // what is still held is no failure here
	}
	_ = l.operator.Close(now)
}

// Freeze stops the store: no request is answered until Thaw. Those that came
// meanwhile are carried out then, unless that is too late for them.
func (l *Lab) Freeze() {
	l.setFrozen(true, (*drivertest.Faulty).Freeze)
}

// Thaw lets a frozen store go on.
func (l *Lab) Thaw() {
	l.setFrozen(false, (*drivertest.Faulty).Thaw)
}

func (l *Lab) setFrozen(frozen bool, set func(*drivertest.Faulty)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frozen = frozen
	for _, c := range l.clients {
		set(c.net)
	}
}

// Lose makes the store forget who holds name, as a store does that restarts
// empty: anybody may take it from now on, and the holder learns of it by its next
// renewal, when its lease ends with ErrLost. It reports whether name was held.
func (l *Lab) Lose(name string) bool {
	lost := false
	for _, h := range l.holdings(name) {
		r, err := l.operator.Release(context.Background(), driver.Hold{Name: h.Name, Kind: h.Kind, Owner: h.Owner})
		lost = lost || err == nil && r.Freed
	}
	return lost
}

// Revoke takes name away from its holder, as an operator may: the lease ends at
// once with ErrRevoked, unless its client is partitioned, and the name stays taken
// until Unlock or the end of the TTL. It reports whether name was held.
func (l *Lab) Revoke(name string) bool {
	revoked := false
	for _, h := range l.holdings(name) {
		err := l.operator.(driver.Breaker).Break(context.Background(), h.Name, h.Owner, h.Token, false)
		revoked = revoked || err == nil
	}
	return revoked
}

// holdings are the holds of name under which somebody works.
func (l *Lab) holdings(name string) []driver.Holding {
	all, err := l.operator.(driver.Inspector).Inspect(context.Background(), name)
	if err != nil {
		return nil // closed
	}
	var hs []driver.Holding
	for _, h := range all {
		if !h.Resting {
			hs = append(hs, h)
		}
	}
	return hs
}
