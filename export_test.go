package holdfast

import "time"

// SetAsleep replaces the measure of suspends for clients made from now on, and
// returns a function that puts it back.
func SetAsleep(f func() time.Duration) (restore func()) {
	old := asleep
	asleep = f
	return func() { asleep = old }
}

// GiveBacks is how many entries the reaper of c still has.
func (c *Client) GiveBacks() int { return c.reaper.left.count() }

// Holds is how many holds c still looks after.
func (c *Client) Holds() int { return c.live.count() }

// Queues is how many local queues c remembers.
func (c *Client) Queues() int {
	c.queues.mu.Lock()
	defer c.queues.mu.Unlock()
	return len(c.queues.byKey)
}

// Bound is how many contexts end with l, as far as l knows.
func (l *Lease) Bound() int {
	l.handle.hold.mu.Lock()
	defer l.handle.hold.mu.Unlock()
	return len(l.handle.bound)
}
