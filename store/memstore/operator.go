package memstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

func (c *store) Inspect(ctx context.Context, name string) ([]driver.Holding, error) {
	if err := c.ready(ctx); err != nil {
		return nil, err
	}
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if name != "" {
		return s.peek(name, now).holdings(name, now), nil
	}
	var all []driver.Holding
	for name, l := range s.locks {
		l.expire(now)
		all = append(all, l.holdings(name, now)...)
	}
	slices.SortStableFunc(all, func(a, b driver.Holding) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

func (l *lock) holdings(name string, now time.Time) []driver.Holding {
	var hs []driver.Holding
	for _, h := range l.holds {
		hs = append(hs, driver.Holding{
			Name: name, Kind: h.kind, Owner: h.owner, Client: h.by.info, Token: h.token,
			Since: h.since, Left: h.until.Sub(now),
			Resting: h.resting, Revoked: h.revoked, Waiters: len(l.waiting),
		})
	}
	return hs
}

func (c *store) Break(ctx context.Context, name, owner string, token int64, now bool) error {
	if err := c.ready(ctx); err != nil {
		return err
	}
	h := c.server.revoke(name, owner, token, now)
	if h == nil {
		return driver.ErrGone
	}
	h.by.tell(driver.Event{Kind: driver.Revoked, Name: name, Owner: owner})
	return nil
}

// revoke marks the hold, or ends it at once. Unlike its owner, an operator can
// end a tombstone. It returns nil if there is no such hold.
func (s *Server) revoke(name, owner string, token int64, atOnce bool) *hold {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	l := s.peek(name, now)
	i := slices.IndexFunc(l.holds, func(h *hold) bool { return h.owner == owner && h.token == token })
	if i < 0 {
		return nil
	}
	h := l.holds[i]
	h.revoked = true
	if atOnce {
		s.end(l, h, now, 0)
	}
	return h
}
