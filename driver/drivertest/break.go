package drivertest

import (
	"errors"

	"github.com/holdfast-go/holdfast/driver"
)

var breaking = promise{"breaking", []rule{
	{"revokes", "Break makes renewals fail with ErrRevoked and leaves the name taken as long as it was", breakRevokes},
	{"release", "the Release of a revoked hold frees the name", breakRelease},
	{"rest", "the Release of a revoked hold lets the name rest if it says so", breakRest},
	{"ttl", "a revoked hold ends when its TTL is over, not before", breakTTL},
	{"now", "Break now frees the name at once", breakNow},
	{"revoked-now", "Break now frees a revoked hold", breakRevokedNow},
	{"compares", "Break acts only on the owner and token that it names", breakCompares},
	{"late", "a Break that arrives after another's grant changes nothing", breakLate},
	{"try", "a repeated Try does not undo a Break", breakTry},
	{"nothing", "Break of what nobody holds creates nothing", breakNothing},
}}

// breaks breaks g's hold, which must be there.
func (e *env) breaks(c *client, g *grant, now bool) {
	e.Helper()
	h := g.Hold
	if err := c.Store.(driver.Breaker).Break(e.ctx, h.Name, h.Owner, h.Token, now); err != nil {
		e.fatal("Break of a live hold failed: %v", err)
	}
}

// breaksNothing breaks what is not there.
func (e *env) breaksNothing(c *client, name, owner string, token int64) {
	e.Helper()
	for _, now := range []bool{false, true} {
		err := c.Store.(driver.Breaker).Break(e.ctx, name, owner, token, now)
		if !errors.Is(err, driver.ErrGone) {
			e.broken("Break of a hold that is not there returned %v, want %v", err, driver.ErrGone)
		}
	}
}

// isRevoked fails unless renewals of h are answered ErrRevoked.
func (e *env) isRevoked(h driver.Hold) {
	e.Helper()
	if _, _, err := e.first.renew(h, e.long); !errors.Is(err, driver.ErrRevoked) {
		e.broken("Renew of a revoked hold returned %v, want %v", err, driver.ErrRevoked)
	}
}

func breakRevokes(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long/2)
	for range 2 {
		e.breaks(other, g, false)
		e.isRevoked(g.Hold)
		if b := other.refused(name); !e.same(b.end(), g.at.plus(e.long/2)) {
			e.broken("its end is %s", apart(b.end(), g.at.plus(e.long/2)))
		}
	}
}

func breakRelease(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	e.breaks(other, g, false)
	e.first.end(g.Hold)
	other.free(name)
}

func breakRest(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	e.breaks(other, g, false)
	end := e.first.rest(g.Hold, e.long/2)
	e.stillRests(other, name, end)
}

func breakTTL(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, 2*e.unit)
	e.breaks(other, g, false)
	e.onTime(other.got(name, e.long), g.at.plus(2*e.unit))
}

func breakNow(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	e.breaks(other, g, true)
	e.endedFor(g.Hold)
	other.free(name)
}

// endedFor fails unless the owner of h learns that it has nothing.
func (e *env) endedFor(h driver.Hold) {
	e.Helper()
	if _, _, err := e.first.renew(h, e.long); !errors.Is(err, driver.ErrGone) && !errors.Is(err, driver.ErrRevoked) {
		e.broken("Renew of a broken hold returned %v, want %v or %v", err, driver.ErrGone, driver.ErrRevoked)
	}
	if rel := e.first.release(h); rel.Freed {
		e.broken("Release of a broken hold says that it freed the name")
	}
}

func breakRevokedNow(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	e.breaks(other, g, false)
	e.breaks(other, g, true)
	e.endedFor(g.Hold)
	other.free(name)
}

func breakCompares(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	e.breaksNothing(other, name, g.Hold.Owner, g.Hold.Token+1)
	e.breaksNothing(other, name, g.Hold.Owner, g.Hold.Token-1)
	e.breaksNothing(other, name, g.Hold.Owner, 0)
	e.breaksNothing(other, name, other.owner(), g.Hold.Token)
	e.breaksNothing(other, e.name(), g.Hold.Owner, g.Hold.Token)
	e.first.renewed(g.Hold, e.long)
	other.heldBy(name, g.Hold.Owner)
}

func breakLate(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	e.first.end(g.Hold)
	next := e.first.take(name, e.long)
	e.breaksNothing(other, name, g.Hold.Owner, g.Hold.Token)
	e.first.renewed(next.Hold, e.long)
	other.heldBy(name, next.Hold.Owner)
}

func breakTry(e *env) {
	name, other := e.name(), e.client()
	r := e.first.request(name, e.long)
	g := e.first.granted(r)
	e.breaks(other, g, false)
	e.first.try(r) // granted or Busy: both are true
	e.isRevoked(g.Hold)
	other.refused(name)
}

func breakNothing(e *env) {
	name, other := e.name(), e.client()
	e.breaksNothing(other, name, e.first.owner(), 1)
	other.free(name)
	g := e.first.take(name, e.long)
	e.first.end(g.Hold)
	e.breaksNothing(other, name, g.Hold.Owner, g.Hold.Token)
	other.free(name)
}
