package holdfast

import (
	"context"
	"time"
)

// extension is an Extend that waits for a renewal to a longer TTL.
type extension struct {
	ttl   time.Duration
	sent  bool       // the request under way asks for it
	reply chan error // has room for the one answer
}

// extend asks for a validity of d from now and waits for the answer.
func (h *hold) extend(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return invalid("extension %v is not positive: give how long from now the lease shall last", d)
	}
	now := h.c.clock.now()
	e := &extension{reply: make(chan error, 1)}
	h.mu.Lock()
	if h.terms.maxHold > 0 {
		d = min(d, h.granted.Add(h.terms.maxHold).Sub(now))
	}
	e.ttl = h.terms.ttlFor(d)
	if most := longestTTL(h.c.profile); d > most || e.ttl > most {
		h.mu.Unlock()
		return invalid("extension %v is too long for the %s store: give less than %v", d, h.c.profile.Name, most)
	}
	if h.cause != nil || !h.span.deadline.Before(now.Add(d)) {
		defer h.mu.Unlock()
		return h.cause
	}
	h.renewal.wants = append(h.renewal.wants, e)
	h.c.renewer.schedule(h)
	h.mu.Unlock()
	select {
	case err := <-e.reply:
		return err
	case <-ctx.Done():
		h.forgetExtension(e)
		return whyEnded(ctx)
	}
}

func (h *hold) forgetExtension(e *extension) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, x := range h.renewal.wants {
		if x == e {
			h.renewal.wants = append(h.renewal.wants[:i], h.renewal.wants[i+1:]...)
			return
		}
	}
}

// satisfy ends the extensions that a renewal asked for. One that came while it
// was under way waits for the next, whose validity counts from a later sending.
func (r *renewal) satisfy() {
	var rest []*extension
	for _, e := range r.wants {
		if e.sent {
			e.reply <- nil
		} else {
			rest = append(rest, e)
		}
	}
	r.wants = rest
}

// fail ends all extensions.
func (r *renewal) fail(err error) {
	for _, e := range r.wants {
		e.reply <- err
	}
	r.wants = nil
}
