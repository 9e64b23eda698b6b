package holdfast

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// renewer keeps the client's holds alive and ends them in time. One goroutine
// schedules; renewals run outside it, in batches, so that a slow or bad entry
// delays neither another batch nor a deadline.
type renewer struct {
	c      *Client
	agenda *agenda[*hold]

	mu      sync.Mutex // guards the following
	calls   int        // under way
	backlog []*hold    // due while all calls were taken
}

// maxCalls is how many renewal requests are under way at most.
const maxCalls = 4

// renewal is a hold's part in it. The hold's mutex guards it.
type renewal struct {
	inFlight bool
	failures int       // since the last confirmed one
	retryAt  time.Time // after a failure; zero: at the usual time
	wants    []*extension
}

func newRenewer(c *Client) *renewer {
	r := &renewer{c: c}
	r.agenda = newAgenda(c.clock, c.start, r.due)
	return r
}

// schedule puts h on the agenda for the next thing to do. Callers hold h.mu.
func (r *renewer) schedule(h *hold) {
	if h.left {
		return
	}
	at, _ := h.endsAt()
	if h.cause != nil {
		at = h.span.deadline
	}
	if due, ok := h.renewDue(); ok && due.Before(at) {
		at = due
	}
	r.agenda.set(&h.entry, at, r.tick(h.terms))
}

// renewDue is when h shall be renewed next, if at all.
func (h *hold) renewDue() (time.Time, bool) {
	switch {
	case h.cause != nil || h.orphan || h.renewal.inFlight:
		return time.Time{}, false
	case len(h.renewal.wants) > 0:
		return time.Time{}, true // at once
	case h.terms.noRenew:
		return time.Time{}, false
	case !h.renewal.retryAt.IsZero():
		return h.renewal.retryAt, true
	}
	return h.span.renew, true
}

// tick is how late a suspend may be noticed: half of the margin, since the store
// may grant the lock to another once all of it has passed.
func (r *renewer) tick(t terms) time.Duration {
	if r.c.clock.asleep == nil {
		return 0
	}
	return max(t.margin(t.ttl)/2, 50*time.Millisecond)
}

// due ends the holds whose time is over and renews the others.
func (r *renewer) due(hs []*hold) {
	now := r.c.clock.now()
	var renew []*hold
	for _, h := range hs {
		if r.look(h, now) {
			renew = append(renew, h)
		}
	}
	r.mu.Lock()
	r.backlog = append(r.backlog, renew...)
	r.mu.Unlock()
	r.dispatch()
}

// look does what is due for h and reports whether a renewal is.
func (r *renewer) look(h *hold, now time.Time) bool {
	h.mu.Lock()
	leaked, then := h.leaked()
	if leaked && !h.orphan {
		h.orphan = true
		then = append(then, func() { h.tell(Leaked, nil) })
	}
	then = append(then, h.endDue(now)...)
	then = append(then, h.told()...)
	gone := !now.Before(h.span.deadline)
	due, ok := h.renewDue()
	renew := ok && !gone && !due.After(now)
	h.renewal.inFlight = h.renewal.inFlight || renew
	if !gone {
		r.schedule(h)
	}
	h.mu.Unlock()
	then.run()
	if gone {
		h.leave(driver.Released{})
	}
	return renew
}

// dispatch sends the backlog, in one call for each timeout, as far as calls are
// free.
func (r *renewer) dispatch() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.backlog) > 0 && r.calls < maxCalls {
		timeout := r.backlog[0].terms.timeout(r.c.timeout)
		var batch, rest []*hold
		for _, h := range r.backlog {
			if h.terms.timeout(r.c.timeout) == timeout {
				batch = append(batch, h)
			} else {
				rest = append(rest, h)
			}
		}
		r.backlog = rest
		r.calls++
		if !r.c.start(func(ctx context.Context) { r.send(ctx, batch, timeout) }) {
			r.calls--
		}
	}
}

// send renews one batch and books each answer as it comes.
func (r *renewer) send(ctx context.Context, batch []*hold, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	slept := r.c.clock.slept()
	batch, hs := renewRequests(batch)
	r.c.store.Renew(ctx, hs, func(i int, v driver.Validity, err error) {
		batch[i].renewed(v, slept, err)
	})
	r.mu.Lock()
	r.calls--
	r.mu.Unlock()
	r.dispatch()
}

// renewRequests leaves out what ended while it waited for its turn.
func renewRequests(batch []*hold) (live []*hold, hs []driver.Hold) {
	for _, h := range batch {
		h.mu.Lock()
		if h.cause == nil {
			d := h.d
			d.TTL = h.terms.ttl
			for _, e := range h.renewal.wants {
				d.TTL, e.sent = max(d.TTL, e.ttl), true
			}
			live, hs = append(live, h), append(hs, d)
		}
		h.mu.Unlock()
	}
	return live, hs
}

// renewed books the answer to a renewal. After Unlock has begun nothing counts
// as loss: the release has its own answer.
func (h *hold) renewed(v driver.Validity, slept time.Duration, err error) {
	h.mu.Lock()
	h.renewal.inFlight = false
	var then after
	switch {
	case h.cause != nil:
	case err == nil:
		then = h.confirmed(h.terms.span(h.c.clock, v, slept))
	case errors.Is(err, driver.ErrRevoked):
		then = h.endWith(ErrRevoked)
	case errors.Is(err, driver.ErrGone), errors.Is(err, driver.ErrKind), errors.Is(err, driver.ErrCorrupt):
		then = h.endWith(join(ErrLost, err))
	default:
		then = h.unrenewed(fromStore(err))
	}
	then = append(then, h.told()...)
	h.c.renewer.schedule(h)
	h.mu.Unlock()
	then.run()
}

// confirmed adopts what the store has now. The deadline only moves forward: a
// renewal sent before an extension knows less. It may have passed already, if the
// process was stopped meanwhile.
func (h *hold) confirmed(s span) after {
	now := h.c.clock.now()
	late := now.Sub(h.span.renew) > h.terms.ttl/3
	if s.deadline.After(h.span.deadline) {
		h.span.deadline, h.span.renew = s.deadline, s.renew
	}
	if s.expiry.After(h.span.expiry) {
		h.span.expiry = s.expiry
	}
	if then := h.endDue(now); h.cause != nil {
		return then
	}
	h.renewal.failures, h.renewal.retryAt = 0, time.Time{}
	if !h.span.renew.After(now) { // a session that has confirmed nothing new yet
		h.renewal.retryAt = now.Add(h.terms.pause())
	}
	h.renewal.satisfy()
	if !late || h.terms.noRenew {
		return nil
	}
	return after{func() { h.tell(RenewedLate, nil) }}
}

// unrenewed plans the next try after a failure that says nothing about the hold.
func (h *hold) unrenewed(err error) after {
	h.renewal.failures++
	pause := min(backoff(h.renewal.failures), h.terms.pause())
	h.renewal.retryAt = h.c.clock.now().Add(pause)
	h.renewal.fail(err)
	return after{func() { h.tell(RenewalFailed, err) }}
}
