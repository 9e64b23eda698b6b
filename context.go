package holdfast

import (
	"context"
	"errors"
	"slices"
)

// leaseContext is a context that ends with a lease. It wraps an ordinary
// cancellable context, to which children attach without a goroutine, and asks
// the clock first: after the process was stopped past the deadline, the timer
// that would cancel is late, but Err and Cause are not.
type leaseContext struct {
	context.Context
	cancel context.CancelCauseFunc
	lease  *Lease
}

// newContext returns a child of parent that ends with the lease.
func (l *Lease) newContext(parent context.Context) *leaseContext {
	ctx, cancel := context.WithCancelCause(parent)
	x := l.handle
	x.hold.mu.Lock()
	cause := x.cause
	if cause == nil {
		cause = x.hold.cause
	}
	if cause == nil {
		x.bind(bound{ctx, cancel})
	}
	x.hold.mu.Unlock()
	if cause != nil {
		cancel(cause)
	}
	return &leaseContext{Context: ctx, cancel: cancel, lease: l}
}

// bound is a context that ends with a handle. It does not refer to the Lease.
type bound struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// sweepBound is the first number of contexts at which those that have ended are
// forgotten.
const sweepBound = 64

// bind notes that b ends with x. A long lease may serve any number of short
// contexts, so those whose parent has ended are dropped from time to time.
// Callers hold the hold's mutex.
func (x *handle) bind(b bound) {
	if len(x.bound) >= max(x.sweep, sweepBound) {
		x.bound = slices.DeleteFunc(x.bound, func(b bound) bool { return b.ctx.Err() != nil })
		x.sweep = 2 * len(x.bound)
	}
	x.bound = append(x.bound, b)
}

// Err returns context.Canceled once the lease has ended, or the parent's error.
func (c *leaseContext) Err() error {
	c.live()
	return c.Context.Err()
}

// live reports whether the lease is held; if not, it ends the context.
func (c *leaseContext) live() bool {
	cause := c.lease.handle.ended()
	if cause != nil && c.Context.Err() == nil {
		c.cancel(cause)
	}
	return cause == nil
}

// whyEnded is the error of an ended context, with its cause where that says more:
// the context may be that of a lease that was lost.
func whyEnded(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if cause == nil || errors.Is(err, cause) {
		return err
	}
	return join(err, cause)
}

// heldKey finds the live lease of a name by one client; nameKey, by any.
type (
	heldKey struct {
		c    *Client
		name string
	}
	nameKey string
)

// Value finds leases, and looks at the clock for everybody else: context.Cause
// reads the wrapped context through here.
func (c *leaseContext) Value(key any) any {
	live := c.live()
	switch k := key.(type) {
	case heldKey:
		if live && k.c == c.lease.handle.hold.c && k.name == c.lease.Name() {
			return c.lease
		}
	case nameKey:
		if live && string(k) == c.lease.Name() {
			return c.lease
		}
	}
	return c.Context.Value(key)
}

// FromContext returns the live lease of name that ctx was made under, by Do,
// Bind or Lease.Context, for code that is far from the call that locked.
func FromContext(ctx context.Context, name string) (*Lease, bool) {
	l, ok := ctx.Value(nameKey(name)).(*Lease)
	return l, ok
}

// liveLease returns the lease by which ctx holds name, or nil.
func liveLease(ctx context.Context, c *Client, name string) *Lease {
	l, _ := ctx.Value(heldKey{c, name}).(*Lease)
	return l
}
