package holdfast

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// hold is what the store gave to one acquisition, and what this client knows of
// it. It goes one way:
//
//	held ──► ended (cause) ──► released, or left to the reaper
//
// The deadline, a store that says it is gone, a revocation, MaxHold, Close and
// Unlock end it. Only Unlock releases it; otherwise its TTL lets others in.
type hold struct {
	c       *Client
	terms   terms
	queue   *queue          // nil unless adopted; set before others know the hold
	values  context.Context // values of the call that acquired; never ends
	granted time.Time       // when the reply arrived, on the client's clock
	d       driver.Hold     // as the store gave it
	entry   entry[*hold]    // on the renewer's agenda

	mu      sync.Mutex // guards the following
	span    span
	cause   error     // why it ended; nil while held
	handles []*handle // the live ones
	orphan  bool      // no live handle can be reached
	untold  bool      // the observer has not heard of the loss
	left    bool      // no longer the renewer's, the queue's, or Close's concern

	renewal renewal
	release release
}

// after is what must be called once no mutex is held: functions that cancel a
// context, which may call into contexts of other leases, and observers.
type after []func()

func (a after) run() {
	for _, f := range a {
		f()
	}
}

// ended returns why the hold ended, or nil while it is held. It looks at the
// clock itself, since timers are late after the process was stopped. Contexts ask
// it, wherever their users do, so that the observer hears of a loss from the
// renewer, which comes by soon: his locks may be held here.
func (h *hold) ended() error {
	now := h.c.clock.now()
	h.mu.Lock()
	then := h.endDue(now)
	cause := h.cause
	h.mu.Unlock()
	then.run()
	return cause
}

// endDue ends the hold if its time is over. Callers hold h.mu.
func (h *hold) endDue(now time.Time) after {
	at, cause := h.endsAt()
	if h.cause != nil || now.Before(at) {
		return nil
	}
	return h.endWith(cause)
}

// endsAt is when the hold ends unless renewed, and why.
func (h *hold) endsAt() (time.Time, error) {
	if h.terms.maxHold > 0 {
		if most := h.granted.Add(h.terms.maxHold); most.Before(h.span.deadline) {
			return most, ErrMaxHold
		}
	}
	return h.span.deadline, ErrLost
}

// end ends the hold for a reason from outside: the store, an operator, Close.
func (h *hold) end(cause error) {
	h.mu.Lock()
	var then after
	if h.cause == nil {
		then = append(h.endWith(cause), h.told()...)
	}
	h.mu.Unlock()
	then.run()
}

// endWith records the cause and ends contexts and extensions.
func (h *hold) endWith(cause error) after {
	h.cause = cause
	h.renewal.fail(cause)
	var then after
	for _, x := range h.handles {
		then = append(then, x.end(cause)...)
	}
	h.untold = h.release.phase == kept && !h.orphan && len(h.handles) > 0
	return then
}

// told is what tells the observer of a loss, once. Callers hold h.mu.
func (h *hold) told() after {
	if !h.untold {
		return nil
	}
	h.untold = false
	cause := h.cause
	return after{func() { h.tell(Lost, cause) }}
}

// errLeaked ends the contexts of a lease that became unreachable.
var errLeaked = join(ErrLost, errors.New("the lease was forgotten without Unlock"))

// leaked reports whether every lease of the hold became unreachable. One that
// did ends its contexts: somebody may wait for nothing but their Done channel, and
// they may be what keeps an outer lease reachable. Callers hold h.mu.
func (h *hold) leaked() (all bool, then after) {
	all = len(h.handles) > 0
	for _, x := range h.handles {
		if x.leaked.Load() {
			then = append(then, x.end(errLeaked)...)
		} else {
			all = false
		}
	}
	return all, then
}

// remaining is how long the hold is still valid.
func (h *hold) remaining() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.span.deadline.Sub(h.c.clock.now())
}

// expires is when the store frees the lock unless it is renewed.
func (h *hold) expires() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.c.clock.local(h.span.expiry)
}

// tooLate returns an error if so little of a fresh hold is left that it is of no
// use.
func (h *hold) tooLate() error {
	left := h.remaining()
	if !h.terms.late(left) {
		return nil
	}
	return join(ErrUnavailable, fmt.Errorf("granted with %v of %v left; raise the TTL or find what delays the store",
		max(left, 0).Round(time.Millisecond), h.terms.ttl))
}

func (h *hold) age() time.Duration { return h.c.clock.now().Sub(h.granted) }

// leave ends the hold's part in the client: the renewer, the holds that Close
// waits for, and the local queue, which may ask the store again.
func (h *hold) leave(r driver.Released) {
	h.mu.Lock()
	first := !h.left
	h.left = true
	h.c.renewer.agenda.drop(&h.entry)
	h.mu.Unlock()
	if first {
		h.c.forget(h)
		h.c.queues.free(h, r)
	}
}

func (h *hold) tell(kind EventKind, err error) {
	h.c.tell(h.values, Event{
		Kind: kind, Name: h.d.Name, Owner: shortOwner(h.d.Owner), Token: h.d.Token, Err: err, Held: h.age(),
	})
}
