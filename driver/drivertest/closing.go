package drivertest

import (
	"context"
	"errors"

	"github.com/holdfast-go/holdfast/driver"
)

var closing = promise{"closing", []rule{
	{"wait", "Close ends a Wait with ErrClosed", closeWait},
	{"calls", "calls after Close return ErrClosed", closeCalls},
	{"holds", "Close releases no holds", closeHolds},
	{"others", "Close of one client leaves the others working", closeOthers},
}}

func closeWait(e *env) {
	name, other := e.name(), e.client()
	e.first.take(name, e.long)
	w := e.untilCtx(e.ctx, other, name)
	e.ends("Close", e.slack+e.tolerance(), func() error {
		other.close()
		return nil
	})
	if !receive(w.over, e.slack+e.tolerance()) {
		e.fatal("Wait goes on after Close")
	}
	if !errors.Is(w.err, driver.ErrClosed) {
		e.broken("Wait returned %v, want %v", w.err, driver.ErrClosed)
	}
}

func closeCalls(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	b := other.refused(name)
	other.close()
	calls := map[string]func() error{
		"Try": func() error {
			_, err := other.Try(e.ctx, other.request(e.name(), e.long))
			return err
		},
		"Wait":    func() error { return other.Wait(e.ctx, other.request(name, e.long), b.Busy) },
		"Renew":   func() error { return renewAll(e.ctx, other, []driver.Hold{g.Hold})[0].err },
		"Release": func() error { _, err := other.Release(e.ctx, g.Hold); return err },
	}
	for call, do := range calls {
		e.ends(call, e.slack+e.tolerance(), func() error { return want(do(), driver.ErrClosed) })
	}
	e.first.renewed(g.Hold, e.long)
}

func closeHolds(e *env) {
	name, other := e.name(), e.client()
	g := other.take(name, e.long)
	other.close()
	e.first.heldBy(name, g.Hold.Owner)
}

func closeOthers(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	third := e.client()
	w := third.waits(context.WithoutCancel(e.ctx), third.refused(name), name)
	other.close()
	e.woken(w, during(func() { e.first.end(g.Hold) }))
	third.free(name)
}
