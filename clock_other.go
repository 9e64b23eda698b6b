//go:build !linux

package holdfast

import "time"

// started is the reference of systemAsleep; it carries both clocks.
var started = time.Now()

// systemAsleep is how far the wall clock has run ahead of the monotonic one:
// the time spent in suspend, and any forward step of the wall clock, which ends
// leases early rather than late.
func systemAsleep() time.Duration {
	now := time.Now()
	return max(0, now.Round(0).Sub(started.Round(0))-now.Sub(started))
}
