package holdfast

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// attempts is the series of requests of one acquisition under one owner id. It
// belongs to the acquisition's goroutine.
type attempts struct {
	c      *Client
	key    queueKey
	terms  terms
	values context.Context // of the latest caller
	owner  string
	// uncertain is until when a copy of a request without an answer may still
	// arrive at the store.
	uncertain time.Time
	request   driver.Request // the latest
}

func (c *Client) newAttempts(key queueKey, t terms) *attempts {
	return &attempts{c: c, key: key, terms: t, owner: newOwner(c.id)}
}

// try sends one request and returns the hold it was granted. It does not end
// with its caller: nobody else could give back what the store may grant.
func (a *attempts) try(values context.Context) (*hold, error) {
	timeout := a.terms.timeout(a.c.timeout)
	ctx, cancel := context.WithTimeout(values, timeout)
	defer cancel()
	a.values = values
	slept := a.c.clock.slept()
	a.request = driver.Request{
		Name: a.key.name, Kind: a.key.kind, Owner: a.owner, TTL: a.terms.ttl,
		NotAfter: time.Now().Add(timeout), Floor: a.c.floor(), Block: 1,
	}
	g, err := a.c.store.Try(ctx, a.request)
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: no answer within %s", err, a.describe(timeout))
		}
		return nil, a.failed(err)
	}
	a.c.contacted.Store(true)
	a.c.raiseFloor(g.First)
	h := &hold{
		c: a.c, terms: a.terms, values: values, granted: a.c.clock.now(),
		d: g.Hold, span: a.terms.span(a.c.clock, g.Validity, slept),
	}
	h.d.Name, h.d.Kind, h.d.Owner = a.key.name, a.key.kind, a.owner
	h.d.Token, h.d.TTL, h.d.NotAfter = g.First, a.terms.ttl, a.request.NotAfter
	h.entry.value = h
	h.release.uncertain = a.uncertain
	return h, nil
}

// describe says how long a request may take, and why no longer.
func (a *attempts) describe(timeout time.Duration) string {
	if timeout < a.c.timeout {
		return fmt.Sprintf("%v, a third of the TTL", timeout.Round(time.Millisecond))
	}
	return timeout.String()
}

// failed books what an error says about the store and about the outcome.
func (a *attempts) failed(err error) error {
	var busy *driver.Busy
	switch {
	case errors.As(err, &busy):
		a.c.contacted.Store(true)
		return err
	case errors.Is(err, ErrUnavailable), errors.Is(err, ErrClosed):
	case errors.Is(err, ErrKind), errors.Is(err, ErrCorrupt), errors.Is(err, ErrRefused):
		a.c.contacted.Store(true)
	default: // ErrUnknown, and whatever a store returns against its contract
		a.uncertain = a.request.NotAfter
	}
	return fromStore(err)
}

// giveUp ends the series and leaves what an unanswered request may have taken to
// the reaper: the owner id is dead from now on.
func (a *attempts) giveUp() {
	if a.uncertain.IsZero() {
		return
	}
	d := driver.Hold{
		Name: a.key.name, Kind: a.key.kind, Owner: a.owner, TTL: a.terms.ttl, NotAfter: a.request.NotAfter,
	}
	a.c.reaper.add(newGiveBack(d, a.values, time.Now(), a.uncertain, a.uncertain.Add(a.terms.ttl), nil))
}

// once makes a single attempt outside the local queue. If ctx ends first, what
// the store grants later is given back.
func (a *attempts) once(ctx context.Context) (*hold, error) {
	var taken atomic.Bool // by the caller who waits, or by the attempt
	reply := make(chan grant, 1)
	started := a.c.ask(func(context.Context) {
		h, err := a.try(context.WithoutCancel(ctx))
		if err != nil {
			a.giveUp()
		} else {
			a.c.queues.adoptTry(a.key, h)
		}
		if !taken.CompareAndSwap(false, true) && h != nil {
			h.decline()
		}
		reply <- grant{h, err}
	})
	if !started {
		return nil, ErrClosed
	}
	select {
	case g := <-reply:
		return g.hold, g.err
	case <-ctx.Done():
	}
	if taken.CompareAndSwap(false, true) {
		return nil, whyEnded(ctx)
	}
	g := <-reply
	return g.hold, g.err
}

// decline gives back a hold that nobody wants. The store hears of it from the
// reaper; nothing was done under it, so AtLeast does not apply.
func (h *hold) decline() {
	h.mu.Lock()
	h.cause, h.release.phase = ErrNotHeld, finished
	d := h.d
	uncertain, until := h.release.uncertain, h.c.clock.local(h.span.expiry)
	h.mu.Unlock()
	h.c.reaper.add(newGiveBack(d, h.values, time.Now(), uncertain, until, func(r driver.Released) {
		h.tell(GivenBack, nil)
		h.leave(r)
	}))
}

// final reports whether asking again cannot help.
func final(err error) bool {
	switch {
	case errors.Is(err, ErrKind), errors.Is(err, ErrCorrupt), errors.Is(err, ErrClosed), errors.Is(err, ErrInvalid):
		return true
	case errors.Is(err, ErrRefused):
		return !errors.Is(err, driver.ErrTemporary)
	}
	return false
}

// acquire asks the store until there is a hold for the first waiter of q, or
// nobody waits any more.
func (qs *queues) acquire(ctx context.Context, q *queue) {
	var a *attempts
	failures := 0
	for {
		w, wait := qs.first(ctx, q)
		if a != nil && (w == nil || w.terms != a.terms) {
			a.giveUp()
			a = nil
		}
		if w == nil {
			return
		}
		if left := qs.pausing(q); left > 0 {
			sleep(wait, left)
			continue
		}
		if a == nil {
			a = qs.c.newAttempts(q.key, w.terms)
		}
		qs.sending(q)
		h, err := a.try(w.ctx)
		var busy *driver.Busy
		switch {
		case err == nil:
			failures = 0
			a = nil
			if !qs.deliver(q, h) {
				h.decline()
			}
		case errors.As(err, &busy):
			failures = 0
			qs.taken(q, busy)
			qs.await(wait, q, a.request, busy)
		case final(err), !qs.c.contacted.Load():
			qs.fail(q, err)
		default:
			failures++
			qs.failed(q, err)
			sleep(wait, backoff(failures))
		}
	}
}

// await waits in the store for a change.
func (qs *queues) await(ctx context.Context, q *queue, r driver.Request, b *driver.Busy) {
	if err := qs.c.store.Wait(ctx, r, b); errors.Is(err, ErrClosed) {
		qs.fail(q, ErrClosed)
	}
}
