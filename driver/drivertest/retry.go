package drivertest

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

var retries = promise{"retries", []rule{
	{"plain", "a request that arrives twice, at once or after later ones, has the effect of once", story(tryA, renewA, releaseA, tryB, renewB, releaseB)},
	{"rest", "a request that arrives twice leaves a tombstone alone", story(tryA, renewA, restA)},
	{"break", "a request that arrives twice leaves a revoked hold and its successor alone", story(tryA, renewA, breakA, releaseA, tryB)},
	{"break-now", "a request that arrives twice leaves the successor of a broken hold alone", story(tryA, renewA, breakNowA, tryB, renewB)},
	{"too-late", "a Try that arrives after its NotAfter is refused and takes nothing", tryTooLate},
	{"too-late-after-release", "a copy of a Try that arrives after Release and NotAfter takes nothing", tryTooLateAfterRelease},
}}

// life is what happened to one name so far, between the owners A and B of two
// clients.
type life struct {
	e    *env
	a, b actor
}

// actor is one owner.
type actor struct {
	*client
	r driver.Request
	g *grant // nil before its Try
}

// step is one request and what it does the first time.
type step struct {
	what  string
	owner string // whose request it is
	leads string // who has the name afterwards
	send  func(l *life) (effect bool)
}

// Who has the name.
const (
	nobody  = "nobody"
	ownerA  = "A"
	ownerB  = "B"
	revoked = "A, revoked"
	rests   = "a tombstone of A"
)

var (
	tryA      = step{"Try by A", ownerA, ownerA, func(l *life) bool { return l.a.asks() }}
	renewA    = step{"Renew by A", ownerA, ownerA, func(l *life) bool { return l.a.renews() }}
	releaseA  = step{"Release by A", ownerA, nobody, func(l *life) bool { return l.a.releases(0) }}
	restA     = step{"Release with Rest by A", ownerA, rests, func(l *life) bool { return l.a.releases(l.e.long / 2) }}
	breakA    = step{"Break of A", "", revoked, func(l *life) bool { return l.breaks(false) }}
	breakNowA = step{"Break now of A", "", nobody, func(l *life) bool { return l.breaks(true) }}
	tryB      = step{"Try by B", ownerB, ownerB, func(l *life) bool { return l.b.asks() }}
	renewB    = step{"Renew by B", ownerB, ownerB, func(l *life) bool { return l.b.renews() }}
	releaseB  = step{"Release by B", ownerB, nobody, func(l *life) bool { return l.b.releases(0) }}
)

func (a *actor) asks() bool {
	g, _ := a.try(a.r)
	switch {
	case g == nil:
		return false
	case a.g != nil && a.g.Hold.Token != g.Hold.Token:
		a.e.broken("a repeated Try had token %d, the first %d", g.Hold.Token, a.g.Hold.Token)
	case a.g == nil:
		a.g = g
	}
	return true
}

func (a *actor) renews() bool {
	_, _, err := a.renew(a.g.Hold, a.e.long)
	return err == nil
}

func (a *actor) releases(rest time.Duration) bool {
	h := a.g.Hold
	h.Rest = rest
	return a.release(h).Freed
}

func (l *life) breaks(now bool) bool {
	h := l.a.g.Hold
	err := l.b.Store.(driver.Breaker).Break(l.e.ctx, h.Name, h.Owner, h.Token, now)
	return err == nil
}

// story returns a case that plays the steps again and again. Each time it stops
// after another step and sends another of the steps so far a second time.
func story(steps ...step) func(*env) {
	return func(e *env) {
		a, b, probe := e.first, e.client(), e.client()
		for last := range steps {
			for again := range steps[:last+1] {
				name := e.name()
				l := &life{e, actor{a, a.request(name, e.long), nil}, actor{b, b.request(name, e.long), nil}}
				start := time.Now()
				l.play(steps[:last+1])
				if !steps[again].undecided(steps[last]) {
					l.repeat(steps[again], steps[last], probe, start)
				}
			}
		}
	}
}

func (l *life) play(steps []step) {
	l.e.Helper()
	for _, s := range steps {
		if !s.send(l) {
			l.e.fatal("%s had no effect when it was first sent", s.what)
		}
	}
}

// undecided reports that a copy of s may take the name, which is free after
// last: the case too-late-after-release says when it may not.
func (s step) undecided(last step) bool {
	return last.leads == nobody && (s.what == tryA.what || s.what == tryB.what)
}

// repeat sends s once more after last, and compares what a third client sees
// before and after. The story began at start.
func (l *life) repeat(s, last step, probe *client, start time.Time) {
	l.e.Helper()
	before := probe.sees(l.a.r.Name)
	effect := s.send(l)
	raised := time.Duration(0)
	if s.owner == last.leads && s.leads == last.leads {
		raised = time.Since(start) // a live hold counts from the copy, no longer from the first
	} else if effect && s.owner != "" && last.leads != revoked {
		l.e.broken("a second %s after %s said that it succeeded", s.what, last.what)
	}
	after := probe.sees(l.a.r.Name)
	if diff := l.e.differ(before, after, raised); diff != "" {
		l.e.broken("a second %s after %s changed it: %s", s.what, last.what, diff)
	}
}

// sees tells who has a name: nil for nobody.
func (c *client) sees(name string) *busy {
	c.e.Helper()
	g, b := c.try(c.request(name, c.e.long))
	if g != nil {
		c.end(g.Hold)
	}
	return b
}

// differ compares two looks at a name that may have been raised in between.
func (e *env) differ(x, y *busy, raised time.Duration) string {
	switch {
	case x == nil && y == nil:
		return ""
	case x == nil:
		return fmt.Sprintf("the name was free and is held by %q", y.Owner)
	case y == nil:
		return fmt.Sprintf("the name was held by %q and is free", x.Owner)
	case x.Owner != y.Owner || x.Resting != y.Resting:
		return fmt.Sprintf("the name was held by %q (resting: %v) and is held by %q (resting: %v)", x.Owner, x.Resting, y.Owner, y.Resting)
	}
	latest := moment{x.end().from, x.end().to.Add(raised)}
	if !e.same(y.end(), latest) {
		return fmt.Sprintf("its end is %s", apart(y.end(), latest))
	}
	return ""
}

// tooLate sends r after its NotAfter.
func (e *env) tooLate(r driver.Request) {
	e.Helper()
	g, err := e.first.Try(e.ctx, r)
	var b *driver.Busy
	switch {
	case err == nil:
		e.fatal("it was granted, with token %d", g.Hold.Token)
	case errors.As(err, &b):
		e.broken("it was answered Busy, by a name that is free")
	}
}

// notAfter skips the case for stores that no request reaches late.
func (e *env) notAfter() {
	if e.direct {
		e.Skip("not for this store: no request reaches it late (Harness.Direct)")
	}
}

func tryTooLate(e *env) {
	e.notAfter()
	name, other := e.name(), e.client()
	r := e.first.request(name, e.long)
	r.NotAfter = time.Now().Add(-e.unit)
	e.tooLate(r)
	other.free(name)
}

func tryTooLateAfterRelease(e *env) {
	e.notAfter()
	name, other := e.name(), e.client()
	r := e.first.request(name, e.long)
	r.NotAfter = time.Now().Add(e.unit)
	e.first.end(e.first.granted(r).Hold)
	e.passed(moment{r.NotAfter, r.NotAfter})
	e.tooLate(r)
	other.free(name)
}
