package holdfast

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// Lease is the right to work under a lock, for a time. It is safe for concurrent
// use. Unlock it when the work is done; a lease that becomes unreachable without
// Unlock ends, and its TTL frees the lock. Keep the lease or its context: a Done
// channel alone does not make it reachable.
//
// A lease ends early when it is lost, when an operator revokes it, at MaxHold,
// and when the client closes. Its contexts end then, with the reason as their
// cause, a margin before the store may grant the lock to another. The lock itself
// stays taken until Unlock or the end of the TTL.
type Lease struct {
	handle  *handle
	ctx     *leaseContext
	cleanup runtime.Cleanup
}

// handle is one Lease's share of a hold. It does not refer to the Lease, so that
// a Lease which nobody can reach is noticed.
type handle struct {
	hold   *hold
	leaked atomic.Bool // the Lease is unreachable

	// guarded by hold.mu
	unlocked bool
	cause    error   // why the contexts ended
	bound    []bound // contexts that end with it
	sweep    int     // at how many of them those that have ended are dropped
}

// newLease makes a lease on h for a caller with the given context, or returns
// why h has ended.
func newLease(ctx context.Context, h *hold) (*Lease, error) {
	x := &handle{hold: h}
	l := &Lease{handle: x}
	if err := h.attach(x); err != nil {
		return nil, err
	}
	l.ctx = l.newContext(context.WithoutCancel(ctx))
	// The function may run on a goroutine of the runtime at any time, so it only
	// sets a flag for the renewer.
	l.cleanup = runtime.AddCleanup(l, func(x *handle) { x.leaked.Store(true) }, x)
	return l, nil
}

func (h *hold) attach(x *handle) error {
	if err := h.ended(); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cause == nil {
		h.handles = append(h.handles, x)
	}
	return h.cause
}

// end ends x's contexts. Callers hold the hold's mutex.
func (x *handle) end(cause error) after {
	if x.cause == nil {
		x.cause = cause
	}
	var then after
	for _, b := range x.bound {
		then = append(then, func() { b.cancel(cause) })
	}
	x.bound = nil
	return then
}

// ended returns why the lease ended, or nil while it is held.
func (x *handle) ended() error {
	cause := x.hold.ended()
	x.hold.mu.Lock()
	defer x.hold.mu.Unlock()
	if x.cause != nil {
		return x.cause
	}
	return cause
}

// Name returns the lock's name.
func (l *Lease) Name() string { return l.handle.hold.d.Name }

// Token returns the fencing token: greater than that of every grant of this name
// that had returned before this one was asked for. Hand it to what the lock
// protects, and let that refuse smaller ones. docs/guarantees.md lists what each
// store's tokens survive.
func (l *Lease) Token() int64 { return l.handle.hold.d.Token }

// Fingerprint tells this acquisition from all others without giving its owner id
// away. It equals Holder.Fingerprint while this lease holds the lock.
func (l *Lease) Fingerprint() string { return fingerprint(l.handle.hold.d.Owner) }

// Context returns a context with the values of the context given to Lock, but
// not its cancellation. It ends when the lease ends: Err is context.Canceled and
// context.Cause one of ErrLost, ErrMaxHold, ErrRevoked, ErrClosed, or ErrNotHeld
// after Unlock. Err looks at the clock itself, so it is right even at once after
// the process was stopped; contexts derived from it may lag by some milliseconds.
func (l *Lease) Context() context.Context { return l.ctx }

// Bind returns a child of parent that also ends when the lease ends. Unlock
// releases what it uses.
func (l *Lease) Bind(parent context.Context) context.Context {
	return l.newContext(parent)
}

// Check returns nil while the lease is held, else an error that matches why it
// is not. It asks the clock, not the store; call it right before an effect that
// cannot be fenced by the token.
func (l *Lease) Check() error {
	return wrap("check", l.Name(), l.handle.ended())
}

// Deadline returns when the lease ends unless it is renewed. It moves forward
// with each confirmed renewal.
func (l *Lease) Deadline() time.Time {
	h := l.handle.hold
	h.mu.Lock()
	defer h.mu.Unlock()
	at, _ := h.endsAt()
	return h.c.clock.local(at)
}

// Extend makes the lease last at least d from now, though never beyond MaxHold.
// It never shortens it. When ctx ends first the outcome is open, as after any
// error but ErrInvalid: Deadline tells what is confirmed.
func (l *Lease) Extend(ctx context.Context, d time.Duration) error {
	if err := l.handle.ended(); err != nil {
		return wrap("extend", l.Name(), err)
	}
	return wrap("extend", l.Name(), l.handle.hold.extend(ctx, d))
}

// Unlock ends the lease and releases the lock, unless an outer lease of the same
// context still holds it. It works although the caller's context has ended, and
// returns within min(3 s, time to the deadline). It returns
//
//   - ErrLost when the work may have run while another held the lock;
//   - ErrNotHeld when called again, or on a nil lease;
//   - ErrUnavailable or ErrRefused when the store did not confirm: call again, or
//     leave it to the background, which keeps trying, and to the TTL;
//   - ErrUnknown when a repeated Unlock finds another owner.
func (l *Lease) Unlock() error {
	if l == nil {
		return fmt.Errorf("unlock: %w: the lock was never taken", ErrNotHeld)
	}
	err := l.handle.hold.unlock(l.handle)
	l.cleanup.Stop()
	return wrap("unlock", l.Name(), err)
}
