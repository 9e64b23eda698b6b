package drivertest

import (
	"reflect"

	"github.com/holdfast-go/holdfast/driver"
)

var profile = promise{"profile", []rule{
	{"complete", "the profile says what the core needs to know", profileComplete},
	{"constant", "all clients of a place have one profile, and it does not change", profileConstant},
	{"weaknesses", "weaknesses come from the closed list, each once", profileWeaknesses},
	{"break", "a store either is a driver.Breaker or declares NoBreak", profileBreak},
}}

func profileComplete(e *env) {
	p := e.profile
	switch {
	case p.Name == "":
		e.broken("Name is empty")
	case p.MinTTL <= 0:
		e.broken("MinTTL is %v", p.MinTTL)
	case p.MaxTTL != 0 && p.MaxTTL < p.MinTTL:
		e.broken("MaxTTL %v is less than MinTTL %v", p.MaxTTL, p.MinTTL)
	case p.Unit <= 0 || p.Unit > p.MinTTL:
		e.broken("Unit is %v, MinTTL %v", p.Unit, p.MinTTL)
	case p.MaxName < 0 || p.MaxName > driver.MaxNameBytes:
		e.broken("MaxName is %d, the general limit %d", p.MaxName, driver.MaxNameBytes)
	case p.Clock > driver.SessionClock:
		e.broken("Clock is %d", p.Clock)
	}
}

func profileConstant(e *env) {
	g := e.first.take(e.name(), e.long)
	if p := e.first.Profile(); !reflect.DeepEqual(p, e.profile) {
		e.broken("it was %+v and is %+v", e.profile, p)
	}
	if p := e.client().Profile(); !reflect.DeepEqual(p, e.profile) {
		e.broken("one client has %+v, another %+v", e.profile, p)
	}
	e.first.end(g.Hold)
}

func profileWeaknesses(e *env) {
	seen := map[driver.Weakness]bool{}
	for _, w := range e.profile.Weak {
		if _, known := excused[w]; !known {
			e.broken("%q is not in the list", w)
		}
		if seen[w] {
			e.broken("%q is there twice", w)
		}
		seen[w] = true
	}
}

func profileBreak(e *env) {
	_, can := e.first.Store.(driver.Breaker)
	if can == e.profile.Has(driver.NoBreak) {
		e.broken("it is a Breaker: %v, declares NoBreak: %v", can, !can)
	}
}
