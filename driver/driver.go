// Package driver is the contract between Holdfast and the places where locks
// live. Application code wants package holdfast; this page is for the author of
// a store.
//
// # Division of labour
//
// A store performs single atomic steps and signals change. It never loops for a
// lock, never renews on its own, never retries a request that may have run, and
// knows nothing of leases, contexts of callers, or margins. The core (package
// holdfast) waits, loops, counts validity, renews, gives back what nobody wants
// any more, and turns errors into sentences. Cancellation, back-off and
// give-back therefore exist once, and one store can be composed of others.
//
// All methods may be called from many goroutines at once. A store keeps no
// argument after the call that brought it, except the functions given to
// Attach.
//
// # Ownership
//
// A hold belongs to the owner id in its request: "<client uuid>:<63 random bits
// in decimal>". The core draws a fresh id for every acquisition and never
// acquires with it again once any release was sent for it. A store may
// therefore treat "same owner, same name" as the same acquisition, re-sent.
//
// # Every request may arrive twice, late, or out of order
//
// A network may repeat a request or deliver it after its caller gave up. Each
// step is defined so that this has the effect of once:
//
//	request   sent again                     delivered after a later step
//	Try       same hold, first token, the    after Release: refused past NotAfter, and the
//	          TTL raised to the request's    core releases once more after NotAfter whatever
//	                                         it got no answer for; after another's grant:
//	                                         Busy
//	Renew     TTL raised again or unchanged  after Release or another's grant: no hold of
//	                                         this owner, nothing written; after a longer
//	                                         Renew: unchanged, since nothing shortens
//	Release   finds no hold of this owner,   after another's grant: owner differs, nothing
//	          writes nothing                 written; a resting name stays resting
//	Break     owner and token differ or are  after another's grant: nothing written
//	          already revoked: nothing
//
// # Time
//
// Only the store's clock decides when a hold ends, and only durations travel: a
// store must never compare its clock with one of a client. No request shortens
// the life of a hold; only Release and Break may.
package driver

import (
	"context"
	"time"
)

// Store is a place where locks live.
type Store interface {
	// Try makes one attempt for r and never blocks beyond one request: at the
	// latest when ctx ends, which the core sets at r.NotAfter. It may send once
	// more after a reply that proves that nothing ran.
	//
	// It returns a Grant, or
	//   - *Busy: somebody else has it, or a ticket was taken (r.Queue);
	//   - ErrKind: what is stored under this name is no lock of this kind;
	//   - ErrCorrupt: a value of ours is unreadable; nothing was taken;
	//   - ErrRefused: the store said no and nothing ran;
	//   - ErrUnavailable: the request was never sent;
	//   - ErrUnknown: it may have run, or may still run until r.NotAfter.
	//
	// The same owner asking again gets its hold again, with its first token and
	// a TTL of at least r.TTL.
	Try(ctx context.Context, r Request) (Grant, error)

	// Wait returns nil when another Try for r may succeed, possibly without
	// reason. b is what the latest Try answered. Wait returns at once if
	// something was signalled after b.Seen was taken, else on a signal, when
	// b.Left has passed (later if the store knows that the hold was renewed), or
	// after the store's own poll interval where the change could go unsignalled.
	// It ends with ctx.Err() when ctx ends and ErrClosed when the store is
	// closed; any trouble below counts as a poll. It leaves nothing behind in
	// the store. The core asks again as often as Wait returns: one that returned
	// at once for ever would be a hot loop.
	Wait(ctx context.Context, r Request, b *Busy) error

	// Renew raises the remaining life of each hold to its TTL where less is
	// left. It calls done exactly once for each index, as entries complete and
	// before it returns, holding no lock of its own. On success v says what the
	// store now has, which may be more than was asked. The error is ErrGone
	// when this owner holds nothing there, ErrRevoked when an operator took it
	// away, else as for Try. Calls may run at once; the core keeps one entry in
	// one call at a time.
	Renew(ctx context.Context, hs []Hold, done func(i int, v Validity, err error))

	// Release ends h if its owner still has it, or leaves the queue. With
	// h.Rest > 0 the name stays taken that long by a tombstone that no Renew
	// matches and no further Release changes. h may be built from a Request
	// whose outcome is unknown (Token 0). A hold that Break revoked is ended as
	// well and counts as freed. Errors as for Try; nil with Freed false means
	// that this owner had nothing there.
	Release(ctx context.Context, h Hold) (Released, error)

	// Profile tells what the store can do and where it is weak. It is constant.
	Profile() Profile

	// Close frees what the store itself uses, never a client that the user
	// brought. It releases no holds. Calls in flight end with ErrClosed.
	Close(ctx context.Context) error
}

// Kind is the way in which a name is held.
type Kind uint8

// The kinds of hold.
const (
	Mutex  Kind = iota + 1 // one owner
	Read                   // many owners, no Write
	Write                  // one owner, no Read
	Permit                 // up to Capacity permits
)

// String returns the kind in lower case.
func (k Kind) String() string {
	switch k {
	case Mutex:
		return "mutex"
	case Read:
		return "read"
	case Write:
		return "write"
	case Permit:
		return "permit"
	}
	return "unknown"
}

// Request asks for a hold. The core asks for kind Mutex alone so far, without
// Queue and with Block 1; a store answers what it does not have with ErrRefused.
type Request struct {
	Name     string
	Kind     Kind
	Owner    string
	TTL      time.Duration
	Queue    bool      // take a ticket and be granted in order of arrival
	NotAfter time.Time // on the caller's clock; a network store must refuse to run later
	Floor    int64     // the grant's token must be greater
	Block    int       // how many tokens the core could use; 0 and 1 ask for one

	Permits, Capacity int // Kind Permit only
}

// Hold names what a grant gave.
type Hold struct {
	Name     string
	Kind     Kind
	Owner    string
	Token    int64
	TTL      time.Duration // what Renew shall raise to
	NotAfter time.Time     // of the latest Try, on the caller's clock
	Rest     time.Duration // Release only: how long the name stays taken
	Proof    any           // the store's own, given back unread
}

// Grant is a successful Try. Last > First reserves a block of tokens for this
// hold; First == Last is always right.
type Grant struct {
	Hold        Hold
	First, Last int64
	Validity    Validity
}

// Validity is what the store confirmed: a life of TTL counted from Sent, which
// the store reads on entry, before any pool, queue or batch. A session store
// reports the sending of its last confirmed heartbeat.
type Validity struct {
	Sent time.Time
	TTL  time.Duration
}

// Busy says that a name is taken. It is the error of a Try that was answered.
type Busy struct {
	Owner    string        // who holds it; may be a foreign client's string
	Kind     Kind          // how it is held
	Left     time.Duration // until the store frees it unless renewed; -1: never
	Resting  bool          // nobody works under it: a tombstone of AtLeast
	Position int           // place in the queue, 1 is next; 0: none
	Seen     any           // the store's mark from before the attempt, for Wait
}

// Error names no lock: the core does.
func (b *Busy) Error() string { return "held by " + b.Owner }

// Released is the answer to a Release.
type Released struct {
	Freed   bool  // this call ended the hold
	Token   int64 // the name's latest token now; 0: unknown or forgotten
	Waiters int   // waiting clients other than this one; -1: cannot be seen
}
