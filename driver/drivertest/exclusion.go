package drivertest

import (
	"sync"
	"sync/atomic"

	"github.com/holdfast-go/holdfast/driver"
)

var exclusion = promise{"exclusion", []rule{
	{"one-owner", "while one owner holds a name, every other owner is refused, also of the same client", oneOwner},
	{"busy", "Busy tells who holds the name and how", busyTells},
	{"released", "a released name is free", releasedIsFree},
	{"race", "of many who try at once for a free name, one is granted", tryRace},
	{"counter", "at every moment at most one owner works under a name", counter},
}}

func oneOwner(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	other.refused(name)
	e.first.refused(name)
	e.first.end(g.Hold)
}

func busyTells(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	b := other.heldBy(name, g.Hold.Owner)
	if b.Kind != driver.Mutex {
		e.broken("Kind is %v, want mutex", b.Kind)
	}
	if b.Resting {
		e.broken("Resting is set for a live hold")
	}
	if b.Left <= 0 || b.Left > e.long+e.tolerance() {
		e.broken("Left is %v for a hold of %v", b.Left, e.long)
	}
	if b.Position != 0 {
		e.broken("Position is %d without a queue", b.Position)
	}
}

func releasedIsFree(e *env) {
	name, other := e.name(), e.client()
	for range 3 {
		e.first.end(e.first.take(name, e.long).Hold)
		other.end(other.take(name, e.long).Hold)
	}
}

// everywhere runs fn in many goroutines: two for each of four clients.
func everywhere(e *env, fn func(c *client)) {
	e.Helper()
	cs := []*client{e.first, e.client(), e.client(), e.client()}
	var all sync.WaitGroup
	for i := range 2 * len(cs) {
		all.Go(func() { fn(cs[i%len(cs)]) })
	}
	all.Wait()
}

func tryRace(e *env) {
	name := e.name()
	var granted atomic.Int32
	everywhere(e, func(c *client) {
		if _, err := c.Try(e.ctx, c.request(name, e.long)); err == nil {
			granted.Add(1)
		}
	})
	if n := granted.Load(); n != 1 {
		e.broken("%d owners of 8 were granted the name", n)
	}
}

// counter reads a number, lets time pass, and writes it one greater.
func counter(e *env) {
	const rounds = 5
	name := e.name()
	var n atomic.Int64 // atomic for the race detector, which sees no lock here
	var last atomic.Int64
	everywhere(e, func(c *client) {
		for range rounds {
			g, err := c.obtain(e.ctx, name, e.long)
			if err != nil {
				e.broken("waiting for the name failed: %v", err)
				return
			}
			old := n.Load()
			if token := g.Hold.Token; last.Swap(token) >= token {
				e.broken("token %d came after a greater or equal one", token)
			}
			sleep(e.ctx, e.unit/1000)
			n.Store(old + 1)
			if rel, err := c.Release(e.ctx, g.Hold); err != nil || !rel.Freed {
				e.broken("Release of a live hold: %+v, %v", rel, err)
			}
		}
	})
	if got := n.Load(); got != 8*rounds {
		e.broken("of %d additions under the lock %d were lost", 8*rounds, 8*rounds-got)
	}
}
