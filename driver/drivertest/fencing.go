package drivertest

import "github.com/holdfast-go/holdfast/driver"

var fencing = promise{"fencing", []rule{
	{"grows", "each grant's token is greater than those of all grants before", tokenGrows},
	{"expiry", "tokens grow over an expiry", tokenExpiry},
	{"rest", "tokens grow over a tombstone", tokenRest},
	{"break", "tokens grow over a forced release", tokenBreak},
	{"floor", "a token is greater than the Floor of its request, and later ones stay so", tokenFloor},
	{"same-owner", "the same owner asking again gets its first token again", tokenSameOwner},
	{"block", "First is the hold's token, and Last grants no more tokens than asked for", tokenBlock},
}}

// after fails unless g's token is greater than last. It returns the greatest
// token that g took.
func (e *env) after(g *grant, last int64) int64 {
	e.Helper()
	if g.Hold.Token <= last {
		e.broken("token %d came after %d", g.Hold.Token, last)
	}
	return g.Last
}

func tokenGrows(e *env) {
	name, other := e.name(), e.client()
	var last int64
	for i := range 10 {
		c := []*client{e.first, other, e.first, e.first}[i%4]
		g := c.take(name, e.long)
		last = e.after(g, last)
		c.renewed(g.Hold, e.long)
		c.end(g.Hold)
	}
	last = e.after(e.client().take(name, e.long), last)
	if last < 1 {
		e.broken("the latest is %d, the first should be at least 1", last)
	}
}

func tokenExpiry(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.unit)
	next := other.got(name, e.unit)
	last := e.after(next, g.Last)
	e.passed(next.at.plus(e.unit))
	e.after(e.first.take(name, e.long), last)
}

func tokenRest(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	e.first.rest(g.Hold, e.unit)
	e.after(other.got(name, e.long), g.Last)
}

func tokenBreak(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	e.breaks(other, g, true)
	last := e.after(other.take(name, e.long), g.Last)
	if rel := e.first.release(g.Hold); rel.Token != 0 && rel.Token != last {
		e.broken("Released.Token is %d, the latest grant's %d", rel.Token, last)
	}
}

func tokenFloor(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	e.first.end(g.Hold)
	r := e.first.request(name, e.long)
	r.Floor = g.Last + 1_000_000
	high := e.first.granted(r)
	last := e.after(high, r.Floor)
	e.first.end(high.Hold)
	r = other.request(name, e.long)
	r.Floor = g.Last // below what was given since
	e.after(other.granted(r), last)
}

func tokenSameOwner(e *env) {
	name := e.name()
	r := e.first.request(name, e.long)
	g := e.first.granted(r)
	for range 3 {
		if again := e.first.granted(r); again.Hold.Token != g.Hold.Token || again.First != g.First {
			e.broken("the first grant's token was %d, the repeated one's is %d", g.Hold.Token, again.Hold.Token)
		}
	}
	if h := g.Hold; h.Name != name || h.Owner != r.Owner || h.Kind != driver.Mutex || h.TTL != r.TTL {
		e.broken("Grant.Hold %+v is not what was asked for: %+v", h, r)
	}
}

func tokenBlock(e *env) {
	name, other := e.name(), e.client()
	var last int64
	for _, block := range []int{0, 1, 10} {
		r := e.first.request(name, e.long)
		r.Block = block
		g := e.first.granted(r)
		most := int64(1)
		if e.profile.Blocks {
			most = int64(max(block, 1))
		}
		if n := g.Last - g.First + 1; g.First != g.Hold.Token || n < 1 || n > most {
			e.broken("Block %d gave token %d, First %d, Last %d", block, g.Hold.Token, g.First, g.Last)
		}
		last = e.after(g, last)
		e.first.end(g.Hold)
		g = other.take(name, e.long)
		last = e.after(g, last)
		other.end(g.Hold)
	}
}
