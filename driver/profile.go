package driver

import "time"

// Clock names what a store's expiry is counted on.
type Clock uint8

// The clocks of stores.
const (
	WallClock    Clock = iota // another machine's; goes on while this one sleeps
	SharedClock               // this machine's monotonic clock: it sleeps with us
	SessionClock              // a session that the store itself keeps alive
)

// Weakness is a fault that a store does not survive. The list is closed: each
// names the conformance cases that do not apply and a line of
// docs/guarantees.md, so that a documented weakness and a skipped case are the
// same fact.
type Weakness string

// The weaknesses.
const (
	LosesOnRestart    Weakness = "loses holds when the store restarts"
	LosesOnFailover   Weakness = "may lose holds in a failover"
	LosesOnEviction   Weakness = "may lose holds when the store evicts"
	ClockStep         Weakness = "a step of the store's clock moves expiry"
	LateDuplicates    Weakness = "cannot refuse a request that arrives late"
	TokenNeedsClock   Weakness = "tokens need the store's clock after a loss of data"
	ForeignHasNoToken Weakness = "foreign holders take no token"
	SessionTTL        Weakness = "the session, not the request, sets the TTL"
	NoBreak           Weakness = "an operator cannot take a hold away"
)

// Profile describes a store.
type Profile struct {
	Name           string        // "memory", "sqlite": for messages
	MinTTL, MaxTTL time.Duration // MaxTTL 0: none
	Unit           time.Duration // the shortest time the store can tell apart
	MaxName        int           // bytes; 0: the general limit of CheckName
	Clock          Clock
	Signals        bool // Wait is woken by a release, not only by polling
	Queue          bool // honours Request.Queue
	Blocks         bool // may reserve token blocks
	Weak           []Weakness
}

// Has reports whether the store declares w.
func (p Profile) Has(w Weakness) bool {
	for _, x := range p.Weak {
		if x == w {
			return true
		}
	}
	return false
}
