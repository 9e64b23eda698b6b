package drivertest

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

var cancelling = promise{"cancelling", []rule{
	{"ended", "a call whose ctx has ended returns at once, with an error", cancelEnded},
	{"try-ended", "a Try whose ctx has ended takes nothing that its Release does not give back", cancelTryEnded},
	{"release-ended", "a Release that says it was not sent has changed nothing", cancelReleaseEnded},
	{"midway", "whatever moment a Try is cut off at, its Release after NotAfter leaves the name free", cancelMidway},
}}

// unsent are the errors that a call with an ended ctx may return.
var unsent = []error{driver.ErrUnavailable, driver.ErrUnknown}

// cutOff fails unless err is one of unsent.
func (e *env) cutOff(call string, err error) {
	e.Helper()
	for _, want := range unsent {
		if errors.Is(err, want) {
			return
		}
	}
	e.broken("%s returned %v, want one of %v", call, err, unsent)
}

func (e *env) endedCtx() context.Context {
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	return ctx
}

func cancelEnded(e *env) {
	name, ctx := e.name(), e.endedCtx()
	g := e.first.take(e.name(), e.long)
	limit := e.slack + e.tolerance()
	e.ends("Try", limit, func() {
		_, err := e.first.Try(ctx, e.first.request(name, e.long))
		e.cutOff("Try", err)
	})
	e.ends("Renew", limit, func() {
		for _, a := range renewAll(ctx, e.first, []driver.Hold{g.Hold, g.Hold}) {
			e.cutOff("Renew", a.err)
		}
	})
	e.ends("Release", limit, func() {
		_, err := e.first.Release(ctx, g.Hold)
		e.cutOff("Release", err)
	})
}

func cancelTryEnded(e *env) {
	name, other := e.name(), e.client()
	r := e.first.request(name, e.long)
	r.NotAfter = time.Now().Add(e.unit)
	_, err := e.first.Try(e.endedCtx(), r)
	if errors.Is(err, driver.ErrUnavailable) {
		other.free(name) // it was never sent
	}
	e.pass(2 * e.unit)
	e.first.release(driver.Hold{Name: name, Kind: r.Kind, Owner: r.Owner})
	other.free(name)
}

func cancelReleaseEnded(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	_, err := e.first.Release(e.endedCtx(), g.Hold)
	if errors.Is(err, driver.ErrUnavailable) {
		other.heldBy(name, g.Hold.Owner)
	}
	e.first.release(g.Hold)
	other.free(name)
}

func cancelMidway(e *env) {
	name, other := e.name(), e.client()
	for range 20 {
		r := e.first.request(name, e.long)
		r.NotAfter = time.Now().Add(e.unit / 10)
		ctx, cancel := context.WithTimeout(e.ctx, time.Duration(rand.Int64N(int64(e.unit/100))))
		_, _ = e.first.Try(ctx, r) // any answer will do
		cancel()
		e.pass(e.unit / 5)
		e.first.release(driver.Hold{Name: name, Kind: r.Kind, Owner: r.Owner})
		other.free(name)
	}
}
