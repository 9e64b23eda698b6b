package holdfast

import (
	"context"
	"errors"
)

// Do takes the lock, waiting as Lock does, runs fn and releases. ctx bounds the
// wait and the work: fn's context is a child of ctx that also ends with the
// lease. Whatever must happen under the lock, a commit included, belongs inside
// fn.
//
// Do returns fn's error. If the lease ended before fn returned, it returns why
// (ErrLost, ErrMaxHold, ErrRevoked, ErrClosed), joined with fn's error unless
// that is only the cancellation which it caused. A release that the store did
// not confirm goes to the observer alone, since a caller might repeat the work;
// the TTL frees the lock.
func (m *Mutex) Do(ctx context.Context, fn func(ctx context.Context, lease *Lease) error) error {
	l, err := m.Lock(ctx)
	if err != nil {
		return err
	}
	return l.do(ctx, fn)
}

// TryDo is Do for a lock that is free now; otherwise it returns *HeldError
// (ErrHeld) and does not run fn.
func (m *Mutex) TryDo(ctx context.Context, fn func(ctx context.Context, lease *Lease) error) error {
	l, err := m.TryLock(ctx)
	if err != nil {
		return err
	}
	return l.do(ctx, fn)
}

// Do is Mutex(name, nil).Do.
func (c *Client) Do(ctx context.Context, name string, fn func(ctx context.Context, lease *Lease) error) error {
	return c.Mutex(name, nil).Do(ctx, fn)
}

func (l *Lease) do(ctx context.Context, fn func(context.Context, *Lease) error) error {
	unlocked := false
	defer func() { // fn panicked or ended its goroutine
		if !unlocked {
			l.Unlock()
		}
	}()
	err := fn(l.Bind(ctx), l)
	cause := l.handle.ended()
	unlocked = true
	released := l.Unlock()
	switch {
	case cause == nil && errors.Is(released, ErrLost):
		cause = ErrLost
	case errors.Is(cause, ErrNotHeld): // fn unlocked it
		cause = nil
	}
	if cause == nil {
		return err
	}
	if ctx.Err() == nil {
		err = withoutCanceled(err)
	}
	if errors.Is(err, cause) {
		return wrap("hold", l.Name(), err)
	}
	return join(wrap("hold", l.Name(), cause), err)
}

// withoutCanceled drops the cancellation that a loss caused from fn's error, and
// keeps what fn joined to it.
func withoutCanceled(err error) error {
	if !errors.Is(err, context.Canceled) {
		return err
	}
	several, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var kept []error
	for _, e := range several.Unwrap() {
		kept = append(kept, withoutCanceled(e))
	}
	return join(kept...)
}
