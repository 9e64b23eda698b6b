//go:build !linux

package holdfast

import (
	"sync"
	"time"
)

// started is the reference of systemAsleep; it carries both clocks.
var started = time.Now()

// ahead is how the wall clock moved against the monotonic one.
var ahead struct {
	sync.Mutex
	last  time.Duration // the latest reading that counted
	total time.Duration // of all leaps forward
}

// leap is the smallest difference between two readings that counts; less is the
// noise of reading two clocks, or suspend too short to matter.
const leap = 10 * time.Millisecond

// systemAsleep is how far the wall clock has run ahead of the monotonic one: the
// time spent in suspend, and any forward step of the wall clock, which ends
// leases early rather than late. A backward step gives no time back.
func systemAsleep() time.Duration {
	ahead.Lock()
	defer ahead.Unlock()
	now := time.Now()
	reading := now.Round(0).Sub(started.Round(0)) - now.Sub(started)
	if grown := reading - ahead.last; grown.Abs() >= leap {
		ahead.last = reading
		ahead.total += max(grown, 0)
	}
	return ahead.total
}
