package drivertest

import "github.com/holdfast-go/holdfast/driver"

var ownership = promise{"ownership", []rule{
	{"release", "only its owner's Release ends a hold", ownerRelease},
	{"release-rest", "only its owner's Release lets a name rest", ownerReleaseRest},
	{"renew", "only its owner's Renew raises a hold", ownerRenew},
	{"release-late", "a Release that arrives after another's grant changes nothing", ownerReleaseLate},
	{"release-nothing", "a Release of what nobody holds creates nothing", ownerReleaseNothing},
	{"renew-nothing", "a Renew of what nobody holds creates nothing", ownerRenewNothing},
	{"release-unknown", "a Release built from its request, without a token, ends a hold", ownerReleaseUnknown},
	{"release-answer", "Released says whether this call ended the hold, and the name's latest token", ownerReleaseAnswer},
	{"apart", "what happens to one name leaves others alone", ownerApart},
}}

// stranger is a hold that names g's lock and token, but another owner.
func (c *client) stranger(g *grant) driver.Hold {
	h := g.Hold
	h.Owner = c.owner()
	return h
}

func ownerRelease(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	for _, c := range []*client{other, e.first} {
		if rel := c.release(c.stranger(g)); rel.Freed {
			e.broken("the Release of a stranger says that it freed the name")
		}
		other.heldBy(name, g.Hold.Owner)
	}
	e.first.end(g.Hold)
}

func ownerReleaseRest(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	h := other.stranger(g)
	h.Rest = e.long
	other.release(h)
	if b := other.heldBy(name, g.Hold.Owner); b.Resting {
		e.broken("the Release of a stranger turned the hold into a tombstone")
	}
	e.first.renewed(g.Hold, e.long)
}

func ownerRenew(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long/2)
	for _, c := range []*client{other, e.first} {
		c.gone(c.stranger(g))
	}
	if b := other.heldBy(name, g.Hold.Owner); !e.same(b.end(), g.at.plus(e.long/2)) {
		e.broken("after the Renew of a stranger to %v, the end is %s", e.long, apart(b.end(), g.at.plus(e.long/2)))
	}
}

func ownerReleaseLate(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	e.first.end(g.Hold)
	next := other.take(name, e.long)
	if rel := e.first.release(g.Hold); rel.Freed {
		e.broken("it says that it freed the name")
	}
	e.first.heldBy(name, next.Hold.Owner)
	other.renewed(next.Hold, e.long)
}

func ownerReleaseNothing(e *env) {
	name, other := e.name(), e.client()
	for _, rest := range []bool{false, true} {
		h := driver.Hold{Name: name, Kind: driver.Mutex, Owner: e.first.owner(), TTL: e.long}
		if rest {
			h.Rest = e.long
		}
		if rel := e.first.release(h); rel.Freed {
			e.broken("it says that it freed something")
		}
		other.free(name)
	}
}

func ownerRenewNothing(e *env) {
	name, other := e.name(), e.client()
	e.first.gone(driver.Hold{Name: name, Kind: driver.Mutex, Owner: e.first.owner(), Token: 1, TTL: e.long})
	other.free(name)
}

func ownerReleaseUnknown(e *env) {
	name, other := e.name(), e.client()
	r := e.first.request(name, e.long)
	e.first.granted(r)
	e.first.end(driver.Hold{Name: r.Name, Kind: r.Kind, Owner: r.Owner, TTL: r.TTL, NotAfter: r.NotAfter})
	other.free(name)
}

func ownerReleaseAnswer(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	e.latest(e.first.end(g.Hold), g)
	again := e.first.release(g.Hold)
	if again.Freed {
		e.broken("a second Release says that it freed the name")
	}
	e.latest(again, g)
	next := other.take(name, e.long)
	e.latest(e.first.release(g.Hold), next)
	e.latest(other.end(next.Hold), next)
}

// latest checks a Released.Token against the name's latest grant.
func (e *env) latest(rel driver.Released, g *grant) {
	e.Helper()
	if rel.Token != 0 && rel.Token != g.Last {
		e.broken("Released.Token is %d, the latest grant's %d", rel.Token, g.Last)
	}
}

func ownerApart(e *env) {
	x, y, other := e.name(), e.name(), e.client()
	gx, gy := e.first.take(x, e.long/2), e.first.take(y, e.long/2)
	h := gx.Hold
	h.Name = y // the right owner and token, but of another name
	e.first.gone(h)
	if rel := e.first.release(h); rel.Freed {
		e.broken("the owner of one name freed another")
	}
	for _, g := range []*grant{gx, gy} {
		if b := other.heldBy(g.Hold.Name, g.Hold.Owner); !e.same(b.end(), g.at.plus(e.long/2)) {
			e.broken("the end of a hold moved: it is %s", apart(b.end(), g.at.plus(e.long/2)))
		}
	}
	e.first.end(gx.Hold)
	other.heldBy(y, gy.Hold.Owner)
	e.first.end(gy.Hold)
}
