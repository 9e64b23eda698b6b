package drivertest

import (
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

var inspection = promise{"inspection", []rule{
	{"hold", "Inspect shows who holds a name, how, and with which token", inspectHold},
	{"time", "Inspect shows since when, and how much is left", inspectTime},
	{"client", "Inspect shows the client that a store keeps a record of", inspectClient},
	{"all", "Inspect without a name shows all holds, in order of their names", inspectAll},
	{"live", "Inspect shows live holds only, and creates nothing", inspectLive},
	{"rest", "Inspect shows that a name rests", inspectRest},
	{"break", "Inspect shows that a hold is revoked", inspectBreak},
	{"waiters", "Inspect counts waiting clients, or says that it cannot", inspectWaiters},
}}

// inspect asks c what it sees of name, or skips the case if c cannot.
func (c *client) inspect(name string) []driver.Holding {
	c.e.Helper()
	i, ok := c.Store.(driver.Inspector)
	if !ok {
		c.e.Skipf("not for this store: %T is no driver.Inspector", c.Store)
	}
	hs, err := i.Inspect(c.e.ctx, name)
	if err != nil {
		c.e.fatal("Inspect(%q) failed: %v", name, err)
	}
	return hs
}

// one is inspect of a name that is held.
func (c *client) one(name string) driver.Holding {
	c.e.Helper()
	hs := c.inspect(name)
	if len(hs) != 1 || hs[0].Name != name {
		c.e.fatal("Inspect(%q) shows %+v, want its one hold", name, hs)
	}
	return hs[0]
}

func inspectHold(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	e.first.take(e.name(), e.long)
	for _, c := range []*client{e.first, other} {
		h := c.one(name)
		if h.Owner != g.Hold.Owner || h.Kind != driver.Mutex || h.Token != g.Hold.Token || h.Resting || h.Revoked {
			e.broken("it shows %+v of %+v", h, g.Hold)
		}
	}
}

func inspectTime(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	e.pass(e.unit / 2)
	var h driver.Holding
	at := during(func() { h = other.one(name) })
	if end := at.plus(h.Left); !e.same(end, g.at.plus(e.long)) {
		e.broken("Left %v means an end that is %s", h.Left, apart(end, g.at.plus(e.long)))
	}
	since := moment{h.Since, h.Since}
	if !h.Since.IsZero() && !e.same(since, g.at) {
		e.broken("Since is %s", apart(since, g.at))
	}
}

func inspectClient(e *env) {
	name, other := e.name(), e.client()
	e.first.take(name, e.long)
	if got := other.one(name).Client; got.ID != "" && got.ID != e.first.info.ID {
		e.broken("it shows client %q, want %q", got.ID, e.first.info.ID)
	}
}

func inspectAll(e *env) {
	other := e.client()
	var want []string
	for _, c := range []*client{other, e.first, other, e.first} {
		name := e.name()
		c.take(name, e.long)
		want = append(want, name)
	}
	slices.Sort(want)
	var got []string
	for _, h := range e.first.inspect("") {
		if strings.HasPrefix(h.Name, "drivertest/"+e.id+"/") {
			got = append(got, h.Name)
		}
	}
	if !slices.Equal(got, want) {
		e.broken("it shows %q, want %q", got, want)
	}
}

func inspectLive(e *env) {
	name, other := e.name(), e.client()
	e.shows(other, name, 0)
	e.first.free(name)
	e.shows(other, name, 0)
	g := e.first.take(name, e.unit)
	e.passed(g.at.plus(e.unit))
	e.shows(other, name, 0)
	e.first.take(name, e.long)
	e.shows(other, name, 1)
}

// shows fails the case unless c sees n holds of name.
func (e *env) shows(c *client, name string, n int) {
	e.Helper()
	if hs := c.inspect(name); len(hs) != n {
		e.broken("it shows %+v, want %d holds", hs, n)
	}
}

func inspectRest(e *env) {
	name, other := e.name(), e.client()
	g, end := e.rested(name, e.long, e.long/2)
	var h driver.Holding
	at := during(func() { h = other.one(name) })
	if !h.Resting || h.Token != g.Hold.Token {
		e.broken("it shows %+v of the tombstone of %+v", h, g.Hold)
	}
	if !e.same(at.plus(h.Left), end) {
		e.broken("Left %v means an end that is %s", h.Left, apart(at.plus(h.Left), end))
	}
}

func inspectBreak(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	e.breaks(other, g, false)
	if h := other.one(name); !h.Revoked || h.Token != g.Hold.Token {
		e.broken("it shows %+v of the revoked %+v", h, g.Hold)
	}
}

func inspectWaiters(e *env) {
	name, other := e.name(), e.client()
	e.first.take(name, e.long)
	w := other.waits(e.ctx, other.refused(name), name)
	for pause := e.unit / 20; pause <= 10*e.unit; pause *= 2 {
		if n := e.first.one(name).Waiters; n == -1 || n == 1 {
			return
		}
		select {
		case <-w.over: // a poll
			w = other.waits(e.ctx, other.refused(name), name)
		case <-time.After(pause):
		}
	}
	e.broken("it shows %d waiters, while one client waits", e.first.one(name).Waiters)
}
