package memstore

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// lock is what a Server knows of one name.
type lock struct {
	holds   []*hold        // in order of grant; a Mutex has at most one
	token   int64          // of the latest grant
	touched time.Time      // when somebody last had it
	mark    uint64         // differs after every signal, and from every lock forgotten before
	signal  chan struct{}  // closed by the next signal; nil while nobody waits
	waiting map[*store]int // calls of Wait under way, by client
}

// hold is an owner's grip on a name, or the tombstone that it left.
type hold struct {
	kind    driver.Kind
	owner   string
	token   int64
	since   time.Time
	until   time.Time // the first moment at which it has ended
	resting bool      // a tombstone: no request of its owner matches it
	revoked bool
	by      *store // the client that took it
}

// raise lets h live for ttl from now, or longer if it does already.
func (h *hold) raise(now time.Time, ttl time.Duration) {
	if t := now.Add(ttl); t.After(h.until) {
		h.until = t
	}
}

// expire drops the holds whose time is over.
func (l *lock) expire(now time.Time) {
	l.holds = slices.DeleteFunc(l.holds, func(h *hold) bool {
		if now.Before(h.until) {
			return false
		}
		if h.until.After(l.touched) {
			l.touched = h.until
		}
		return true
	})
}

// of returns the hold that owner still has, revoked or not, or nil.
func (l *lock) of(owner string) *hold {
	for _, h := range l.holds {
		if h.owner == owner && !h.resting {
			return h
		}
	}
	return nil
}

// blocker returns the hold that keeps other owners out, or nil.
func (l *lock) blocker() *hold {
	if len(l.holds) == 0 {
		return nil
	}
	return l.holds[0]
}

// drop ends h at once.
func (l *lock) drop(h *hold, now time.Time) {
	l.holds = slices.DeleteFunc(l.holds, func(x *hold) bool { return x == h })
	l.touched = now
}

// rest turns h into a tombstone that keeps the name taken for d.
func (l *lock) rest(h *hold, now time.Time, d time.Duration) {
	h.resting = true
	h.until = now.Add(d)
}

// others counts the waiting clients other than c.
func (l *lock) others(c *store) int {
	n := len(l.waiting)
	if l.waiting[c] > 0 {
		n--
	}
	return n
}
