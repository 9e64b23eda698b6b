// Package drivertest checks that a store keeps the contract of package driver.
//
// A store joins with one test:
//
//	func TestConformance(t *testing.T) {
//		drivertest.Run(t, drivertest.Harness{
//			Place: func(tb testing.TB) func() driver.Store {
//				path := filepath.Join(tb.TempDir(), "locks.db")
//				return func() driver.Store { return open(tb, path) }
//			},
//		})
//	}
//
// There is one file for each promise, and one rule of the promise for each
// case. A failure states the rule and what broke it. A case is left out only
// if the store's Profile declares the weakness that excuses it, or if the store
// lacks the optional interface that the case is about; either way the reason is
// printed.
//
// [Faulty] is for the tests of what uses a store: a store behind a bad network.
package drivertest

import (
	"cmp"
	"context"
	"path"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Harness tells the suite about a store.
type Harness struct {
	// Place prepares an empty place where locks live, for one case, and returns
	// what opens a further client of it. The suite closes the clients; Place
	// leaves all else to tb.Cleanup. Required.
	Place func(tb testing.TB) (client func() driver.Store)

	// Virtual runs each case in a testing/synctest bubble, where time passes at
	// once and must be kept exactly. It is for stores that live in this process
	// and block on nothing outside. Defaults to false: cases take real time.
	Virtual bool

	// Unit is the TTL of short holds; long ones live 60 times as long. A case
	// about expiry takes some units. Short units fail on a busy machine.
	// Defaults to 1 s if Virtual, else 500 ms; never below Profile().MinTTL.
	Unit time.Duration

	// Slack is how much later than promised an expiry or a signal may show, for
	// a busy machine or a store's poll interval; at most 30 units make sense.
	// Defaults to 20 units, and none if Virtual.
	Slack time.Duration

	// Direct says that a request reaches the store by a function call that ends
	// with its ctx, so that none can arrive late. Such a store may ignore
	// Request.NotAfter. Defaults to false.
	Direct bool
}

// promise is what users are promised, in rules.
type promise struct {
	name  string
	rules []rule
}

// rule is one case of the suite.
type rule struct {
	name string
	says string // the rule, as a sentence without its end
	show func(e *env)
}

// promises is the whole suite.
var promises = []promise{
	profile, names, exclusion, expiry, ownership, fencing, waiting, cancelling,
	closing, renewal, retries, resting, breaking, inspection,
}

// Run checks a store. Each case is a subtest named promise/rule.
func Run(t *testing.T, h Harness) {
	for _, p := range promises {
		t.Run(p.name, func(t *testing.T) {
			for _, r := range p.rules {
				t.Run(r.name, func(t *testing.T) { h.run(t, p, r) })
			}
		})
	}
}

// run shows one rule, in a bubble if time is virtual.
func (h Harness) run(t *testing.T, p promise, r rule) {
	show := func(t *testing.T) {
		e := newEnv(t, h, p, r)
		if w := e.excuse(); w != "" {
			t.Skipf("not for this store: it declares %q", w)
		}
		r.show(e)
	}
	if h.Virtual {
		synctest.Test(t, show)
		return
	}
	show(t)
}

// newEnv prepares one case.
func newEnv(t testing.TB, h Harness, p promise, r rule) *env {
	e := &env{TB: t, id: path.Join(p.name, r.name), says: r.says, direct: h.Direct, virtual: h.Virtual}
	e.open = h.Place(t)
	e.first = e.client()
	e.profile = e.first.Profile()
	unit := 500 * time.Millisecond
	if h.Virtual {
		unit = time.Second
	}
	e.unit = max(cmp.Or(h.Unit, unit), e.profile.MinTTL)
	e.long = 60 * e.unit
	if m := e.profile.MaxTTL; m > 0 {
		e.long = min(e.long, m)
	}
	e.slack = h.Slack
	if e.slack == 0 && !h.Virtual {
		e.slack = 20 * e.unit
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*e.long)
	t.Cleanup(cancel)
	e.ctx = ctx
	return e
}
