package drivertest

import "time"

var resting = promise{"resting", []rule{
	{"keeps", "a Release with Rest keeps the name taken for everybody", restKeeps},
	{"ends", "a tombstone ends by itself after Rest, not before", restEnds},
	{"rest-counts", "Rest replaces what was left of the TTL, longer or shorter", restCounts},
	{"renew", "no Renew matches a tombstone", restRenew},
	{"release", "no further Release changes a tombstone", restRelease},
}}

// rested takes name and lets it rest for d. The end of that is returned.
func (e *env) rested(name string, ttl, d time.Duration) (*grant, moment) {
	e.Helper()
	g := e.first.take(name, ttl)
	return g, e.first.rest(g.Hold, d)
}

// stillRests fails the case unless name rests until end.
func (e *env) stillRests(c *client, name string, end moment) {
	e.Helper()
	b := c.refused(name)
	if !b.Resting {
		e.broken("Busy.Resting is not set")
	}
	if !e.same(b.end(), end) {
		e.broken("Left %v means an end that is %s", b.Left, apart(b.end(), end))
	}
}

func restKeeps(e *env) {
	name, other := e.name(), e.client()
	_, end := e.rested(name, e.long, e.long/2)
	e.stillRests(other, name, end)
	e.stillRests(e.first, name, end)
}

func restEnds(e *env) {
	name, other := e.name(), e.client()
	_, end := e.rested(name, e.long, 2*e.unit)
	e.onTime(other.got(name, e.long), end)
}

func restCounts(e *env) {
	other := e.client()
	for _, rest := range []time.Duration{e.long / 4, e.long} {
		name := e.name()
		_, end := e.rested(name, e.long/2, rest)
		e.stillRests(other, name, end)
	}
}

func restRenew(e *env) {
	name, other := e.name(), e.client()
	g, end := e.rested(name, e.long, e.long/2)
	e.first.gone(g.Hold)
	e.stillRests(other, name, end)
}

func restRelease(e *env) {
	name, other := e.name(), e.client()
	g, end := e.rested(name, e.long, e.long/2)
	for _, rest := range []time.Duration{0, e.unit, e.long} {
		h := g.Hold
		h.Rest = rest
		if rel := e.first.release(h); rel.Freed {
			e.broken("a further Release, with Rest %v, says that it freed the name", rest)
		}
		e.stillRests(other, name, end)
	}
}
