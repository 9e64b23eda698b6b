package driver

import (
	"context"
	"os"
	"time"
)

// Holding is one hold as an operator sees it.
type Holding struct {
	Name    string
	Kind    Kind
	Owner   string
	Client  ClientInfo // zero if the owner left no record
	Token   int64
	Since   time.Time     // on the inspecting machine's clock; zero: unknown
	Left    time.Duration // -1: no TTL
	Resting bool
	Revoked bool
	Waiters int // -1: cannot be seen
}

// Inspector is a Store that can show what it holds.
type Inspector interface {
	// Inspect returns the live holds of name, or of all names if it is empty,
	// ordered by name.
	Inspect(ctx context.Context, name string) ([]Holding, error)
}

// Breaker is a Store whose holds an operator can take away.
type Breaker interface {
	// Break acts only if (owner, token) still holds name. It revokes: renewals
	// fail with ErrRevoked and the name stays taken until its Release or TTL.
	// With now it frees the name at once, and renewals fail with ErrGone or
	// ErrRevoked. ErrGone: no such hold; of one that is revoked already the store
	// may say either nothing or that.
	Break(ctx context.Context, name, owner string, token int64, now bool) error
}

// ClientInfo says who a client is, for people who look.
type ClientInfo struct {
	ID      string // the uuid that starts the client's owner ids
	Host    string
	PID     int
	Program string
	Label   string
	Started time.Time
}

// Event is what a store tells the core unasked.
type Event struct {
	Kind  EventKind
	Name  string // Lost and Revoked only
	Owner string // Lost and Revoked only
	Err   error
}

// EventKind tells events apart.
type EventKind uint8

// The events of stores.
const (
	Lost             EventKind = iota + 1 // a hold is gone
	Revoked                               // an operator took a hold away
	SubscriptionUp                        // signals arrive again
	SubscriptionDown                      // waiting falls back to polling
)

// Host is a Store that keeps a record of its clients or tells events.
type Host interface {
	// Attach is called once, before any other method. notify may be called from
	// any goroutine until Close returns, holding no lock of the store.
	Attach(info ClientInfo, notify func(Event))
}

// Pinger is a Store that can be asked for an answer without touching a lock.
type Pinger interface {
	// Ping returns nil if the store answers and could grant locks. Errors as for
	// Try.
	Ping(ctx context.Context) error
}

// Inheritor is a Store that frees a client's holds when its process dies, and
// that can let a child process stand in for a dead parent.
type Inheritor interface {
	// Inherit returns open files. A process that inherits them keeps the
	// client's holds alive until it ends, at the latest until their TTL. The
	// files stay the store's.
	Inherit() []*os.File
}
