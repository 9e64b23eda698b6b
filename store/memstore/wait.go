package memstore

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Wait costs a timer and a count, no goroutine. Whoever frees a name closes one
// channel for all of its waiters; expiry needs nobody to announce it, since
// each waiter's timer ends with the hold, which it knows better than b.Left.
func (c *store) Wait(ctx context.Context, r driver.Request, b *driver.Busy) error {
	if c.isClosed() {
		return driver.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	l, signal, left := c.join(r, b)
	if l == nil {
		return nil
	}
	defer c.leave(l)
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-signal:
		return nil
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.closed:
		return driver.ErrClosed
	}
}

// join counts c among the waiters of r.Name. It returns nil if there is no
// reason to wait. Checking the mark and taking the channel under one lock is
// what makes a lost wake-up impossible.
func (c *store) join(r driver.Request, b *driver.Busy) (*lock, <-chan struct{}, time.Duration) {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	l := s.peek(r.Name, now)
	h := l.blocker()
	if h == nil || b == nil || b.Seen != any(l.mark) {
		return nil, nil, 0
	}
	if l.signal == nil {
		l.signal = make(chan struct{})
	}
	if l.waiting == nil {
		l.waiting = map[*store]int{}
	}
	l.waiting[c]++
	return l, l.signal, h.until.Sub(now)
}

func (c *store) leave(l *lock) {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.waiting[c]--; l.waiting[c] == 0 {
		delete(l.waiting, c)
	}
	if len(l.waiting) == 0 {
		l.signal = nil
	}
}
