package drivertest

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

var waiting = promise{"waiting", []rule{
	{"release", "a release wakes those who wait", waitRelease},
	{"missed", "Wait returns at once if the name was freed after the Try that found it taken", waitMissed},
	{"expiry", "Wait returns when the hold has expired, though nobody signals", waitExpiry},
	{"rest", "Wait returns when a tombstone has ended, though nobody signals", waitRest},
	{"break", "a forced release wakes those who wait", waitBreak},
	{"everybody", "nobody is forgotten: all who wait get the name in the end, one at a time", waitEverybody},
	{"again", "who was woken and lost the race can wait again", waitAgain},
	{"ctx", "Wait ends with ctx.Err() when its ctx ends", waitCtx},
	{"ctx-ended", "Wait with a ctx that has ended returns at once", waitCtxEnded},
	{"idle", "while nothing changes, Wait does not return again and again", waitIdle},
	{"counted", "Released.Waiters counts the waiting clients other than the releasing one", waitCounted},
	{"leaves-nothing", "a Wait that is over leaves nothing behind", waitLeavesNothing},
}}

// wait is a call of Wait under way.
type wait struct {
	began time.Time
	over  chan struct{} // closed when Wait has returned
	err   error         // set before that
	at    time.Time     // likewise
}

// waits calls Wait in a goroutine and lets it get there.
func (c *client) waits(ctx context.Context, b *busy, name string) *wait {
	w := &wait{began: time.Now(), over: make(chan struct{})}
	r := c.request(name, c.e.long)
	go func() {
		defer close(w.over)
		w.err = c.Wait(ctx, r, b.Busy)
		w.at = time.Now()
	}()
	c.e.pass(c.e.unit / 20)
	return w
}

// woken fails the case unless w has returned nil soon after freed, when the
// name became free, or after it began if that was later.
func (e *env) woken(w *wait, freed moment) {
	e.Helper()
	due := e.soon(freed)
	if t := w.began.Add(e.slack); t.After(due) {
		due = t
	}
	if !receive(w.over, time.Until(due)+e.unit) || w.at.After(due) {
		e.fatal("Wait went on after %v, when it was due", due.Sub(w.began))
	}
	if w.err != nil {
		e.fatal("Wait returned %v", w.err)
	}
}

func waitRelease(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	w := other.waits(e.ctx, other.refused(name), name)
	e.woken(w, during(func() { e.first.end(g.Hold) }))
	other.free(name)
}

func waitMissed(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	b := other.refused(name)
	freed := during(func() { e.first.end(g.Hold) })
	e.woken(other.waits(e.ctx, b, name), freed)

	g = e.first.take(name, e.long)
	b = other.refused(name)
	freed = during(func() { e.first.end(g.Hold) })
	e.first.take(name, e.long) // too late to be worth a try: the signal was there
	e.woken(other.waits(e.ctx, b, name), freed)
}

func waitExpiry(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.unit)
	b := other.refused(name)
	e.pass(e.unit / 2) // Left counts from the Try, not from the Wait
	e.woken(other.waits(e.ctx, b, name), g.at.plus(e.unit))
	other.got(name, e.long)
}

func waitRest(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	end := e.first.rest(g.Hold, e.unit)
	w := other.waits(e.ctx, other.refused(name), name)
	e.woken(w, end)
	other.got(name, e.long)
}

func waitBreak(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	w := other.waits(e.ctx, other.refused(name), name)
	e.woken(w, during(func() { e.breaks(e.first, g, true) }))
	other.free(name)
}

func waitEverybody(e *env) {
	name := e.name()
	start := e.first.take(name, e.long)
	go func() {
		sleep(e.ctx, e.unit/20)
		_, _ = e.first.Release(e.ctx, start.Hold)
	}()
	everywhere(e, func(c *client) {
		g, err := c.obtain(e.ctx, name, e.long)
		if err != nil {
			e.broken("waiting for the name failed: %v", err)
			return
		}
		if rel, err := c.Release(e.ctx, g.Hold); err != nil || !rel.Freed {
			e.broken("Release of a live hold: %+v, %v", rel, err)
		}
	})
}

func waitAgain(e *env) {
	name, other := e.name(), e.client()
	for range 3 {
		g := e.first.take(name, e.long)
		w := other.waits(e.ctx, other.refused(name), name)
		e.woken(w, during(func() { e.first.end(g.Hold) }))
		g = e.first.take(name, e.long) // faster than the one that was woken
		w = other.waits(e.ctx, other.refused(name), name)
		e.woken(w, during(func() { e.first.end(g.Hold) }))
	}
}

func waitCtx(e *env) {
	name, other := e.name(), e.client()
	e.first.take(name, e.long)
	for _, c := range []struct {
		end  func(context.Context) (context.Context, context.CancelFunc)
		want error
	}{
		{context.WithCancel, context.Canceled},
		{func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, e.unit)
		}, context.DeadlineExceeded},
	} {
		ctx, cancel := c.end(e.ctx)
		defer cancel()
		w := e.untilCtx(ctx, other, name)
		if c.want == context.Canceled {
			cancel()
		}
		if !receive(w.over, e.unit+e.slack+e.tolerance()) {
			e.fatal("Wait goes on after its ctx ended: %v", ctx.Err())
		}
		if !errors.Is(w.err, c.want) {
			e.broken("Wait returned %v, want %v", w.err, c.want)
		}
	}
}

// untilCtx waits for name as long as ctx, through polls.
func (e *env) untilCtx(ctx context.Context, c *client, name string) *wait {
	w := &wait{over: make(chan struct{})}
	b := c.refused(name)
	go func() {
		defer close(w.over)
		r := c.request(name, e.long)
		for range manyWaits {
			if w.err = c.Wait(ctx, r, b.Busy); w.err != nil {
				return
			}
		}
		w.err = errSpins
	}()
	e.pass(e.unit / 20)
	return w
}

func waitCtxEnded(e *env) {
	name, other := e.name(), e.client()
	e.first.take(name, e.long)
	b := other.refused(name)
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	e.ends("Wait with an ended ctx", e.slack+e.tolerance(), func() error {
		err := other.Wait(ctx, other.request(name, e.long), b.Busy)
		return want(err, context.Canceled)
	})
}

func waitIdle(e *env) {
	const enough = 100
	name, other := e.name(), e.client()
	e.first.take(name, e.long)
	ctx, cancel := context.WithTimeout(e.ctx, e.unit)
	defer cancel()
	for n := 1; ; n++ {
		b := other.refused(name)
		if other.Wait(ctx, other.request(name, e.long), b.Busy) != nil {
			return
		}
		if n == enough {
			e.fatal("it returned %d times within %v", n, e.unit)
		}
	}
}

// waitCounted gives the waiter more time in each round, since nothing tells
// when it has got to wait.
func waitCounted(e *env) {
	name, other := e.name(), e.client()
	for pause := e.unit / 20; pause <= 10*e.unit; pause *= 2 {
		g := e.first.take(name, e.long)
		own := e.first.waits(e.ctx, e.first.refused(name), name)
		w := other.waits(e.ctx, other.refused(name), name)
		e.pass(pause)
		var rel driver.Released
		freed := during(func() { rel = e.first.end(g.Hold) })
		e.woken(w, freed)
		e.woken(own, freed)
		switch rel.Waiters {
		case -1, 1:
			return
		case 0: // not there yet, or left for a poll
		default:
			e.fatal("Waiters is %d, while one other client waits", rel.Waiters)
		}
	}
	e.broken("Waiters stayed 0 while another client waited; a store that cannot see waiters says -1")
}

func waitLeavesNothing(e *env) {
	name, other := e.name(), e.client()
	g := e.first.take(name, e.long)
	ctx, cancel := context.WithCancel(e.ctx)
	w := e.untilCtx(ctx, other, name)
	cancel()
	if !receive(w.over, e.slack+e.tolerance()) {
		e.fatal("Wait goes on after its ctx ended")
	}
	// A store may keep a subscription for a while: the count must fall to 0.
	for pause := e.unit / 20; ; pause *= 2 {
		rel := e.first.end(g.Hold)
		if rel.Waiters <= 0 {
			break
		}
		if pause > e.long {
			e.fatal("Released.Waiters is still %d", rel.Waiters)
		}
		e.pass(pause)
		g = e.first.take(name, e.long)
	}
	e.first.free(name)
}
