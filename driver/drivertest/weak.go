package drivertest

import (
	"path"

	"github.com/holdfast-go/holdfast/driver"
)

// excused lists, for each weakness that a store may declare, the rules that it
// need not keep, as patterns of package path. The weaknesses without rules show
// under faults that this suite does not cause: each store's own tests do.
var excused = map[driver.Weakness][]string{
	driver.LateDuplicates: {"retries/too-late", "retries/too-late-after-release"},
	driver.NoBreak:        {"breaking/*", "fencing/break", "waiting/break", "retries/break", "retries/break-now", "inspection/break"},
	driver.SessionTTL: {
		"exclusion/busy", "expiry/*", "fencing/expiry", "waiting/expiry", "inspection/time",
	},
	driver.LosesOnRestart:    nil,
	driver.LosesOnFailover:   nil,
	driver.LosesOnEviction:   nil,
	driver.ClockStep:         nil,
	driver.TokenNeedsClock:   nil,
	driver.ForeignHasNoToken: nil,
}

// excuse returns the declared weakness that excuses the store from this case,
// or "".
func (e *env) excuse() driver.Weakness {
	for _, w := range e.profile.Weak {
		for _, pattern := range excused[w] {
			if ok, _ := path.Match(pattern, e.id); ok {
				return w
			}
		}
	}
	return ""
}
