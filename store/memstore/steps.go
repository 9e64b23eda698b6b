package memstore

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// ready reports why a request cannot be sent, or nil.
func (c *store) ready(ctx context.Context) error {
	if c.isClosed() {
		return driver.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", driver.ErrUnavailable, err)
	}
	return nil
}

func (c *store) Try(ctx context.Context, r driver.Request) (driver.Grant, error) {
	sent := time.Now()
	if err := c.ready(ctx); err != nil {
		return driver.Grant{}, err
	}
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if err := acceptable(r, now); err != nil {
		return driver.Grant{}, err
	}
	l := s.obtain(r.Name, now)
	h := l.of(r.Owner)
	if h != nil && !h.revoked {
		h.raise(now, r.TTL)
		return grant(r, h, sent, now), nil
	}
	if b := l.blocker(); b != nil {
		return driver.Grant{}, busy(l, b, now)
	}
	h, err := c.take(l, r, now)
	if err != nil {
		return driver.Grant{}, err
	}
	return grant(r, h, sent, now), nil
}

// acceptable reports why r is refused whoever holds the name, or nil.
func acceptable(r driver.Request, now time.Time) error {
	switch {
	case r.Kind != driver.Mutex:
		return fmt.Errorf("%w: memory has no locks of kind %v", driver.ErrRefused, r.Kind)
	case r.TTL < time.Millisecond:
		return fmt.Errorf("%w: ttl %v: at least 1ms is needed", driver.ErrRefused, r.TTL)
	case !r.NotAfter.IsZero() && now.After(r.NotAfter):
		return fmt.Errorf("%w %w: request arrived %v too late", driver.ErrRefused, driver.ErrTemporary, now.Sub(r.NotAfter))
	}
	return nil
}

// take gives l to r.
func (c *store) take(l *lock, r driver.Request, now time.Time) (*hold, error) {
	last := max(l.token, r.Floor)
	if last == math.MaxInt64 {
		return nil, fmt.Errorf("%w: no token is greater than %d", driver.ErrRefused, last)
	}
	l.token = last + 1
	h := &hold{kind: r.Kind, owner: r.Owner, token: l.token, since: now, until: now.Add(r.TTL), by: c}
	l.holds = append(l.holds, h)
	return h, nil
}

func grant(r driver.Request, h *hold, sent, now time.Time) driver.Grant {
	return driver.Grant{
		Hold: driver.Hold{
			Name: r.Name, Kind: h.kind, Owner: h.owner, Token: h.token,
			TTL: r.TTL, NotAfter: r.NotAfter,
		},
		First: h.token, Last: h.token,
		Validity: driver.Validity{Sent: sent, TTL: h.until.Sub(now)},
	}
}

func busy(l *lock, h *hold, now time.Time) *driver.Busy {
	return &driver.Busy{
		Owner: h.owner, Kind: h.kind, Left: h.until.Sub(now),
		Resting: h.resting, Seen: l.mark,
	}
}

func (c *store) Renew(ctx context.Context, hs []driver.Hold, done func(int, driver.Validity, error)) {
	sent := time.Now()
	for i, h := range hs {
		v, err := c.renew(ctx, h, sent)
		done(i, v, err)
	}
}

func (c *store) renew(ctx context.Context, x driver.Hold, sent time.Time) (driver.Validity, error) {
	if err := c.ready(ctx); err != nil {
		return driver.Validity{}, err
	}
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	h := s.peek(x.Name, now).of(x.Owner)
	switch {
	case h == nil:
		return driver.Validity{}, driver.ErrGone
	case h.revoked:
		return driver.Validity{}, driver.ErrRevoked
	}
	h.raise(now, x.TTL)
	return driver.Validity{Sent: sent, TTL: h.until.Sub(now)}, nil
}

func (c *store) Release(ctx context.Context, x driver.Hold) (driver.Released, error) {
	if err := c.ready(ctx); err != nil {
		return driver.Released{}, err
	}
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	l := s.peek(x.Name, now)
	h := l.of(x.Owner)
	if h != nil {
		s.end(l, h, now, x.Rest)
	}
	return driver.Released{Freed: h != nil, Token: l.token, Waiters: l.others(c)}, nil
}

// end ends h, or lets it rest. It wakes the waiters in both cases, since the
// name may now be free sooner than they were told.
func (s *Server) end(l *lock, h *hold, now time.Time, rest time.Duration) {
	if rest > 0 {
		l.rest(h, now, rest)
	} else {
		l.drop(h, now)
	}
	s.wake(l)
}
