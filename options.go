package holdfast

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Options configure a Client. Nil means all defaults.
type Options struct {
	// Label tells people what this client is for; it is shown beside its locks.
	// Defaults to none.
	Label string
	// Timeout is the longest that one request to the store may take; a third of
	// the TTL where that is shorter. Defaults to 3 s.
	Timeout time.Duration
	// Drift is the largest rate error assumed between this machine's clock and
	// the store's, as a part of the TTL. Defaults to 0.01.
	Drift float64
	// Observer is told what happens to this client's locks. It is called
	// synchronously, from several goroutines, must not block, and must not call
	// the client. Defaults to none.
	Observer func(context.Context, Event)
}

// MutexOptions configure a Mutex. Nil means all defaults.
type MutexOptions struct {
	// TTL is how long the store keeps the lock after the holder's last sign of
	// life: from the store's minimum up to ten years. Defaults to 30 s.
	TTL time.Duration
	// NoRenew leaves the lease to end after one TTL. Defaults to renewing every
	// third of the TTL.
	NoRenew bool
	// MaxHold ends the lease this long after its grant, whatever happens, so
	// that a hung job cannot keep the lock. Defaults to no limit.
	MaxHold time.Duration
	// AtLeast keeps the name taken at least this long after the grant, unlocked
	// or not, so that a short job runs once although several machines start it
	// at about the same time. It raises the TTL, and so the time that the name
	// stays taken if the holder dies. Defaults to 0.
	AtLeast time.Duration
	// Margin is the time to stop: how long before the store may grant the lock
	// to another the lease ends. The allowance for drift is added; together they
	// may take half of the TTL. Defaults to a tenth of the TTL.
	Margin time.Duration
	// Wait bounds how long Lock waits for another holder. Defaults to as long
	// as the context allows.
	Wait time.Duration
	// Patience is how long Lock goes on without any answer from the store; −1
	// means as long as the context allows. Before the client's first answer ever
	// Lock fails at once. Defaults to one TTL.
	Patience time.Duration
	// MaxWaiters is how many goroutines of this client may wait for the name;
	// more get ErrTooManyWaiters. Defaults to no limit.
	MaxWaiters int
	// Reentrant lets a context that already holds the name, through the same
	// client, enter again: the same token, no request, and the last Unlock
	// releases. Defaults to ErrDeadlock.
	Reentrant bool
}

const (
	defaultTTL     = 30 * time.Second
	defaultTimeout = 3 * time.Second
	defaultDrift   = 0.01
	maxDrift       = 0.25
	maxTTL         = 10 * 365 * 24 * time.Hour
)

func (o *Options) withDefaults() (Options, error) {
	var r Options
	if o != nil {
		r = *o
	}
	if r.Timeout == 0 {
		r.Timeout = defaultTimeout
	}
	if r.Drift == 0 {
		r.Drift = defaultDrift
	}
	if r.Timeout < 0 {
		return r, invalid("Timeout %v is negative: leave it 0 for %v", r.Timeout, defaultTimeout)
	}
	if !(r.Drift > 0 && r.Drift <= maxDrift) {
		return r, invalid("Drift %v is out of range: give a part of the TTL above 0 and up to %v", r.Drift, maxDrift)
	}
	return r, nil
}

// checkName applies the rules of all stores and this store's own limit.
func (c *Client) checkName(name string) error {
	if err := driver.CheckName(name); err != nil {
		return invalid("%w", err)
	}
	if most := c.profile.MaxName; most > 0 && len(name) > most {
		return invalid("name of %d bytes is too long for the %s store: at most %d are allowed", len(name), c.profile.Name, most)
	}
	return nil
}

// terms checks the options against what the store can do.
func (o MutexOptions) terms(p driver.Profile, drift float64) (terms, error) {
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"TTL", o.TTL}, {"MaxHold", o.MaxHold}, {"AtLeast", o.AtLeast}, {"Margin", o.Margin}, {"Wait", o.Wait},
	} {
		if d.value < 0 {
			return terms{}, invalid("%s %v is negative: leave it 0 for the default", d.name, d.value)
		}
	}
	if o.Patience < 0 && o.Patience != -1 {
		return terms{}, invalid("Patience %v is negative: use -1 to wait for the store for ever", o.Patience)
	}
	if o.MaxWaiters < 0 {
		return terms{}, invalid("MaxWaiters %d is negative: leave it 0 for no limit", o.MaxWaiters)
	}
	t := terms{
		ttl: max(o.ttl(), o.AtLeast), stop: o.Margin, drift: drift,
		noRenew: o.NoRenew, maxHold: o.MaxHold, atLeast: o.AtLeast,
	}
	if t.stop == 0 {
		t.stop = t.ttl / 10
	}
	return t, o.check(t, p)
}

func (o MutexOptions) check(t terms, p driver.Profile) error {
	if ttl := o.ttl(); ttl < p.MinTTL {
		return invalid("TTL %v is too short for the %s store: give at least %v", ttl, p.Name, p.MinTTL)
	}
	if most := longestTTL(p); t.ttl > most {
		return invalid("TTL or AtLeast %v is too long for the %s store: give at most %v", t.ttl, p.Name, most)
	}
	if o.Margin > 0 && t.stop > t.ttl/2-t.driftOf(t.ttl) {
		return invalid("Margin %v and the drift allowance %v exceed half of the TTL %v: raise the TTL or lower the Margin",
			o.Margin, t.driftOf(t.ttl), t.ttl)
	}
	return nil
}

func longestTTL(p driver.Profile) time.Duration {
	if p.MaxTTL == 0 {
		return maxTTL
	}
	return min(p.MaxTTL, maxTTL)
}

func (o MutexOptions) ttl() time.Duration {
	if o.TTL == 0 {
		return defaultTTL
	}
	return o.TTL
}

func (o MutexOptions) patience() time.Duration {
	if o.Patience == 0 {
		return max(o.ttl(), o.AtLeast)
	}
	return o.Patience
}

// conflict names the first option, set on the inner call of a re-entry, that
// differs from the hold it would enter.
func (o MutexOptions) conflict(t terms) error {
	switch {
	case o.TTL != 0 && max(o.TTL, o.AtLeast) != t.ttl:
		return invalid("TTL %v differs from the outer lock's %v: leave it 0 when entering again", o.TTL, t.ttl)
	case o.NoRenew && !t.noRenew:
		return invalid("NoRenew differs from the outer lock's: leave it out when entering again")
	case o.MaxHold != 0 && o.MaxHold != t.maxHold:
		return invalid("MaxHold %v differs from the outer lock's %v: leave it 0 when entering again", o.MaxHold, t.maxHold)
	case o.AtLeast != 0 && o.AtLeast != t.atLeast:
		return invalid("AtLeast %v differs from the outer lock's %v: leave it 0 when entering again", o.AtLeast, t.atLeast)
	case o.Margin != 0 && o.Margin != t.stop:
		return invalid("Margin %v differs from the outer lock's %v: leave it 0 when entering again", o.Margin, t.stop)
	}
	return nil
}
