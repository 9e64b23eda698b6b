package holdfast

import (
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A lease is valid until
//
//	deadline = sent + TTL − margin
//	margin   = drift + time to stop
//
// sent is when the very request that was granted left, so the store's TTL began
// later and ends later. Drift covers clocks that run at other rates; the time to
// stop is what the holder has between learning of the loss and the moment when
// the store may grant the lock to another.

// driftFixed covers the rounding of TTLs to milliseconds at both ends.
const driftFixed = 2 * time.Millisecond

// terms are what one acquisition asks for. Equal terms may serve each other's
// waiters.
type terms struct {
	ttl     time.Duration // asked of the store; at least atLeast
	stop    time.Duration // time to stop
	drift   float64       // rate error of the clocks, as a part of the TTL
	noRenew bool
	maxHold time.Duration
	atLeast time.Duration
}

// margin is how long before the end of ttl the holder is told to stop. A TTL of
// a few milliseconds keeps half of itself.
func (t terms) margin(ttl time.Duration) time.Duration {
	return min(t.driftOf(ttl)+t.stop, ttl/2)
}

func (t terms) driftOf(ttl time.Duration) time.Duration {
	return time.Duration(float64(ttl)*t.drift) + driftFixed
}

// ttlFor is the TTL whose deadline lies d after its sending.
func (t terms) ttlFor(d time.Duration) time.Duration {
	ttl := time.Duration(float64(d+t.stop+driftFixed)/(1-t.drift)) + time.Millisecond
	return max(ttl, t.ttl)
}

// late reports whether too little of a new lease is left to hand it out.
func (t terms) late(left time.Duration) bool {
	return left < (t.ttl-t.margin(t.ttl))/2
}

// pause is the longest time between a renewal that achieved nothing and the next.
func (t terms) pause() time.Duration { return max(t.ttl/30, time.Millisecond) }

// timeout bounds one request.
func (t terms) timeout(most time.Duration) time.Duration {
	return min(most, t.ttl/3)
}

// span is a confirmed validity on the client's clock. A renewal is due a third of
// the TTL after the last one; it counts back from the deadline, since the drift
// allowance of a long extension may be more than two thirds of the TTL.
type span struct{ deadline, expiry, renew time.Time }

func (t terms) span(c clock, v driver.Validity, slept time.Duration) span {
	sent := c.at(v.Sent, slept)
	deadline := sent.Add(v.TTL - t.margin(v.TTL))
	usual := min(t.ttl, v.TTL)
	return span{
		deadline: deadline,
		expiry:   sent.Add(v.TTL),
		renew:    deadline.Add(t.margin(usual) - usual*2/3),
	}
}
