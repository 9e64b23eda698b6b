package drivertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// want returns an error unless got is one of errs.
func want(got error, errs ...error) error {
	for _, err := range errs {
		if errors.Is(got, err) {
			return nil
		}
	}
	return fmt.Errorf("returned %v, want %v", got, errors.Join(errs...))
}

// cutOff returns an error unless err is one that a call with an ended ctx may
// return.
func cutOff(err error) error { return want(err, driver.ErrUnavailable, driver.ErrUnknown) }

func (e *env) endedCtx() context.Context {
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	return ctx
}

func cancelEnded(e *env) {
	name, ctx := e.name(), e.endedCtx()
	g := e.first.take(e.name(), e.long)
	limit := e.slack + e.tolerance()
	e.ends("Try", limit, func() error {
		_, err := e.first.Try(ctx, e.first.request(name, e.long))
		return cutOff(err)
	})
	e.ends("Renew", limit, func() error {
		as := renewAll(ctx, e.first, []driver.Hold{g.Hold, g.Hold})
		return cmp.Or(cutOff(as[0].err), cutOff(as[1].err))
	})
	e.ends("Release", limit, func() error {
		_, err := e.first.Release(ctx, g.Hold)
		return cutOff(err)
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
