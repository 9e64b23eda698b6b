package holdfast

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// release is how far the release of a hold has come. The hold's mutex guards it.
type release struct {
	phase     phase
	by        *handle         // whose Unlock releases
	uncertain time.Time       // until when a copy of an acquire may still arrive
	late      *releaseOutcome // found by the reaper after Unlock gave up
}

type phase uint8

const (
	kept        phase = iota // no release was sent
	releasing                // one is under way
	unconfirmed              // its outcome is unknown; Unlock may ask again
	finished                 // confirmed, or left to the reaper for good
)

type releaseOutcome struct {
	r   driver.Released
	err error
}

// unlockTimeout bounds an Unlock that does not reach the store.
const unlockTimeout = 3 * time.Second

// unlock gives up x's share. The last share releases the hold in the store.
func (h *hold) unlock(x *handle) error {
	now := h.c.clock.now()
	h.mu.Lock()
	again := x == h.release.by && h.release.phase == unconfirmed
	if x.unlocked && !again {
		h.mu.Unlock()
		return ErrNotHeld
	}
	then := h.endDue(now)
	then = append(then, h.told()...)
	cause := h.cause
	lost := errors.Is(cause, ErrLost) || !now.Before(h.span.deadline)
	then = append(then, h.giveUp(x)...)
	others := len(h.handles) > 0
	if !others {
		h.release.phase, h.release.by = releasing, x
		h.renewal.fail(ErrNotHeld)
	}
	h.mu.Unlock()
	then.run()
	switch {
	case others && lost && errors.Is(cause, ErrLost):
		return cause
	case others && lost:
		return ErrLost
	case others:
		return nil
	case lost && !again:
		return h.surrender()
	}
	return h.settle(h.ask(again), again)
}

// giveUp ends x's contexts and takes it off the hold.
func (h *hold) giveUp(x *handle) after {
	x.unlocked = true
	then := x.end(ErrNotHeld)
	for i, y := range h.handles {
		if x == y {
			h.handles = append(h.handles[:i], h.handles[i+1:]...)
			break
		}
	}
	if len(h.handles) == 0 && h.cause == nil {
		h.cause = ErrNotHeld
	}
	return then
}

// surrender leaves a lost hold to the reaper: its owner may still have it in the
// store, where nobody needs it any more.
func (h *hold) surrender() error {
	h.mu.Lock()
	h.release.phase = finished
	h.mu.Unlock()
	h.c.reaper.add(h.giveBack(time.Now(), func(driver.Released) {})) // it was told as lost
	h.tell(Released, ErrLost)
	h.leave(driver.Released{})
	return ErrLost
}

// ask sends the release and waits no longer than min(3 s, time to the deadline),
// whatever became of the caller's context.
func (h *hold) ask(again bool) releaseOutcome {
	bound := unlockTimeout
	h.mu.Lock()
	if late := h.release.late; late != nil {
		h.mu.Unlock()
		return *late
	}
	d := h.d
	d.Rest = h.rest()
	if !again {
		bound = min(bound, h.span.deadline.Sub(h.c.clock.now()))
	}
	h.mu.Unlock()

	ctx, cancel := context.WithTimeout(h.values, bound)
	reply := make(chan releaseOutcome, 1)
	if !h.c.start(func(context.Context) {
		defer cancel()
		r, err := h.c.store.Release(ctx, d)
		reply <- releaseOutcome{r, err}
	}) {
		cancel()
		return releaseOutcome{err: ErrClosed}
	}
	select {
	case o := <-reply:
		return o
	case <-ctx.Done():
	}
	select {
	case o := <-reply: // the reply ended ctx
		return o
	default:
		return releaseOutcome{err: ErrUnavailable}
	}
}

// settle judges the outcome of a release: Unlock's error, and what is left to
// the reaper.
//
// A first release that finds no hold of this owner means loss. After an
// unconfirmed one the token tells: while it is still ours, nobody with a token
// was granted the name since.
func (h *hold) settle(o releaseOutcome, again bool) error {
	err := o.err
	switch {
	case err == nil && !o.r.Freed && !again:
		err = ErrLost
	case err == nil && !o.r.Freed && o.r.Token != h.d.Token:
		err = ErrUnknown
	case errors.Is(err, ErrUnknown):
		err = errUnconfirmed
	case err != nil:
		err = fromStore(err)
	}
	h.mu.Lock()
	h.release.phase = finished
	if o.err != nil {
		h.release.phase = unconfirmed
	}
	uncertain := h.release.uncertain
	h.mu.Unlock()
	switch now := time.Now(); {
	case o.err != nil && !again:
		h.c.reaper.add(h.giveBack(now, h.lateOutcome))
	case uncertain.After(now):
		h.c.reaper.add(h.giveBack(uncertain, nil))
	}
	h.tell(Released, err)
	h.leave(o.r)
	return err
}

var errUnconfirmed = join(ErrUnavailable, errors.New("the release was not confirmed; unlock again, or its TTL frees the lock"))

// giveBack is what the reaper must do for the hold, and from when.
func (h *hold) giveBack(from time.Time, confirmed func(driver.Released)) *giveBack {
	h.mu.Lock()
	defer h.mu.Unlock()
	g := newGiveBack(h.d, h.values, from, h.release.uncertain, h.c.clock.local(h.span.expiry), confirmed)
	g.rest = h.c.clock.local(h.granted.Add(h.terms.atLeast))
	return g
}

// lateOutcome keeps what the reaper learned for an Unlock that asks again.
func (h *hold) lateOutcome(r driver.Released) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.release.late == nil {
		h.release.late = &releaseOutcome{r: r}
	}
}

// rest is how much longer AtLeast keeps the name taken.
func (h *hold) rest() time.Duration {
	return max(0, h.terms.atLeast-h.age())
}
