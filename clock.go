package holdfast

import "time"

// clock reads time that goes on while the machine is suspended, as the store's
// clock does. Go's monotonic clock stands still then, so the time spent asleep
// is added. Instants of this clock are compared with each other only.
type clock struct {
	asleep func() time.Duration // grows by each suspend; nil: the store sleeps with us
}

func (c clock) now() time.Time {
	return c.at(time.Now(), c.slept())
}

// at puts the instant t of time.Now on this clock. slept is a reading from
// before the instant, or of now: an earlier one makes the result earlier, which
// ends a lease sooner.
func (c clock) at(t time.Time, slept time.Duration) time.Time {
	return t.Add(slept)
}

func (c clock) slept() time.Duration {
	if c.asleep == nil {
		return 0
	}
	return c.asleep()
}

// local is the inverse of at, for people and timers.
func (c clock) local(t time.Time) time.Time {
	return t.Add(-c.slept())
}
