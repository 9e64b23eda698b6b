package drivertest

import (
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

var expiry = promise{"expiry", []rule{
	{"ends", "a hold that nobody renews ends when its TTL is over, not before", expiryEnds},
	{"left", "Busy.Left is the time until the name is free, unless renewed", expiryLeft},
	{"validity", "a Validity lasts at least as asked, and at most as long as the store keeps the hold", expiryValidity},
	{"renewed", "a renewed hold lives on", expiryRenewed},
	{"renew-raises", "Renew raises the remaining life to its TTL", expiryRenewRaises},
	{"renew-keeps", "Renew never shortens a hold", expiryRenewKeeps},
	{"try-raises", "a repeated Try raises the remaining life to its TTL", expiryTryRaises},
	{"try-keeps", "a repeated Try never shortens a hold", expiryTryKeeps},
	{"late-renew", "Renew does not bring back a hold that has ended", expiryLateRenew},
	{"late-renew-retaken", "Renew of a hold that has ended leaves the next owner's alone", expiryLateRenewRetaken},
	{"late-release", "Release of a hold that has ended leaves the next owner's alone", expiryLateRelease},
}}

func expiryEnds(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.unit)
	e.onTime(other.got(name, e.long), g.at.plus(e.unit))
}

// onTime fails unless next was granted when what kept the name taken had ended.
func (e *env) onTime(next *grant, end moment) {
	e.Helper()
	if e.before(next.at, end) {
		e.broken("the name was granted again %s", apart(next.at, end))
	}
	if next.at.from.After(e.soon(end)) {
		e.broken("the name was granted again only %s", apart(next.at, end))
	}
}

func expiryLeft(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	for range 3 {
		if b := other.refused(name); !e.same(b.end(), g.at.plus(e.long)) {
			e.broken("Left %v means an end that is %s", b.Left, apart(b.end(), g.at.plus(e.long)))
		}
		e.pass(e.unit / 2)
	}
}

func expiryValidity(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.unit*10)
	e.checkValidity(g.Validity, g.at, e.unit*10, other.refused(name))
	v, at := e.first.renewed(g.Hold, e.long)
	e.checkValidity(v, at, e.long, other.refused(name))
	v, at = e.first.renewed(g.Hold, e.unit)
	e.checkValidity(v, at, e.unit, other.refused(name))
}

// checkValidity compares what a call promised with what another client is told.
func (e *env) checkValidity(v driver.Validity, at moment, asked time.Duration, told *busy) {
	e.Helper()
	if v.Sent.Before(at.from) || v.Sent.After(at.to) {
		e.broken("Sent lies %v from the start of its call", v.Sent.Sub(at.from))
	}
	if v.TTL < asked-e.profile.Unit {
		e.broken("TTL is %v, asked were %v", v.TTL, asked)
	}
	promised := v.Sent.Add(v.TTL)
	if promised.After(told.end().to.Add(e.tolerance())) {
		e.broken("it promises %v more than the store keeps", promised.Sub(told.end().to))
	}
}

func expiryRenewed(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, 2*e.unit)
	e.first.renewed(g.Hold, e.long)
	e.pass(3 * e.unit)
	other.heldBy(name, g.Hold.Owner)
}

func expiryRenewRaises(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long/2)
	_, at := e.first.renewed(g.Hold, e.long)
	if b := other.refused(name); !e.same(b.end(), at.plus(e.long)) {
		e.broken("after Renew to %v, Left is %v", e.long, b.Left)
	}
}

func expiryRenewKeeps(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	e.first.renewed(g.Hold, e.unit)
	if b := other.refused(name); !e.same(b.end(), g.at.plus(e.long)) {
		e.broken("after Renew to %v, Left of a hold of %v is %v", e.unit, e.long, b.Left)
	}
}

func expiryTryRaises(e *env) {
	name, other := e.name(), e.client()
	r := e.first.request(name, e.long/2)
	e.first.granted(r)
	r.TTL = e.long
	again := e.first.granted(r)
	if b := other.refused(name); !e.same(b.end(), again.at.plus(e.long)) {
		e.broken("after a second Try with %v, Left is %v", e.long, b.Left)
	}
}

func expiryTryKeeps(e *env) {
	name, other := e.name(), e.client()
	r := e.first.request(name, e.long)
	g := e.first.granted(r)
	r.TTL = e.unit
	e.first.granted(r)
	if b := other.refused(name); !e.same(b.end(), g.at.plus(e.long)) {
		e.broken("after a second Try with %v, Left of a hold of %v is %v", e.unit, e.long, b.Left)
	}
}

func expiryLateRenew(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.unit)
	e.passed(g.at.plus(e.unit))
	e.first.gone(g.Hold)
	other.free(name)
}

func expiryLateRenewRetaken(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.unit)
	next := other.got(name, e.long/2)
	e.first.gone(g.Hold)
	if b := e.first.heldBy(name, next.Hold.Owner); !e.same(b.end(), next.at.plus(e.long/2)) {
		e.broken("the next hold's end is now %v", apart(b.end(), next.at.plus(e.long/2)))
	}
}

func expiryLateRelease(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.unit)
	next := other.got(name, e.long)
	if rel := e.first.release(g.Hold); rel.Freed {
		e.broken("it says that it freed the name")
	}
	e.first.heldBy(name, next.Hold.Owner)
}
