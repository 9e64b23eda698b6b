package holdfast

import (
	"context"
	"time"
)

// Event is something that happened to a lock. Fields that do not apply are zero.
type Event struct {
	Kind   EventKind
	Name   string
	Owner  string // the owner id in its 8-character form
	Token  int64
	Err    error         // why, for failures
	Waited time.Duration // Acquired and Waited: since the call
	Held   time.Duration // since the grant, of what is or was held
}

// EventKind tells events apart.
type EventKind uint8

// The events that an Observer is told.
const (
	Acquired         EventKind = iota + 1 // a lease was granted
	Waited                                // a Lock or TryLock ended without the lock; Err says why
	Released                              // an Unlock ended; Err is nil if the store confirmed it
	RenewedLate                           // a renewal was confirmed more than a third of the TTL after it was due
	RenewalFailed                         // a renewal failed and will be tried again
	Lost                                  // a lease ended before its Unlock; Err is the cause
	GivenBack                             // a grant that nobody waited for any more was released
	Leaked                                // a lease became unreachable without Unlock; renewal stops
	StoodBack                             // this client pauses, to let waiters of others in
	SubscriptionUp                        // the store's wake-ups arrive again
	SubscriptionDown                      // the store's wake-ups are gone; waiting polls
)

var eventNames = [...]string{
	"unknown", "acquired", "waited", "released", "renewed late", "renewal failed",
	"lost", "given back", "leaked", "stood back", "subscription up", "subscription down",
}

// String returns the event's name in lower case.
func (k EventKind) String() string {
	if int(k) >= len(eventNames) {
		k = 0
	}
	return eventNames[k]
}

// tell calls the observer, if any.
func (c *Client) tell(ctx context.Context, e Event) {
	if c.observer != nil {
		c.observer(ctx, e)
	}
}
