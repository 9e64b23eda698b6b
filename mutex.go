package holdfast

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Mutex is a lock by name: one owner at a time among all clients of the store.
// It holds no state of its own, is safe for concurrent use, and excludes
// goroutines of one process from each other as well.
type Mutex struct {
	c    *Client
	name string
	opts MutexOptions
}

// Mutex returns the lock of that name; nil options mean all defaults. It sends
// nothing and never fails: bad names and options are ErrInvalid when locking.
func (c *Client) Mutex(name string, o *MutexOptions) *Mutex {
	m := &Mutex{c: c, name: name}
	if o != nil {
		m.opts = *o
	}
	return m
}

// Name returns the lock's name.
func (m *Mutex) Name() string { return m.name }

// Lock takes the lock, waiting while others hold it. ctx bounds the wait only;
// the lease has a context of its own. It returns
//
//   - *HeldError (ErrHeld) joined with the context's error when ctx ended, or
//     with context.DeadlineExceeded when the option Wait passed;
//   - ErrDeadlock at once if ctx already holds the name;
//   - ErrUnavailable after Patience without any answer from the store.
//
// When Lock returns an error nothing is held, and what the store may have
// granted meanwhile is given back in the background.
func (m *Mutex) Lock(ctx context.Context) (*Lease, error) {
	return m.lease(ctx, m.wait)
}

// TryLock takes the lock if it is free now, asking the store once, past any
// local queue. It returns *HeldError (ErrHeld) if it is not.
func (m *Mutex) TryLock(ctx context.Context) (*Lease, error) {
	return m.lease(ctx, m.once)
}

// lease checks the call, enters again if that is allowed, and otherwise gets a
// hold by the given way.
func (m *Mutex) lease(ctx context.Context, get func(context.Context, terms) (*hold, error)) (*Lease, error) {
	started := time.Now()
	l, err := m.enter(ctx, get)
	if err != nil {
		err = wrap("lock", m.name, err)
		m.c.tell(ctx, Event{Kind: Waited, Name: m.name, Err: err, Waited: time.Since(started)})
		return nil, err
	}
	h := l.handle.hold
	m.c.tell(ctx, Event{
		Kind: Acquired, Name: m.name, Owner: shortOwner(h.d.Owner), Token: h.d.Token, Waited: time.Since(started),
	})
	return l, nil
}

func (m *Mutex) enter(ctx context.Context, get func(context.Context, terms) (*hold, error)) (*Lease, error) {
	if err := m.c.checkName(m.name); err != nil {
		return nil, err
	}
	t, err := m.opts.terms(m.c.profile, m.c.drift)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, whyEnded(ctx)
	}
	if m.c.isClosing() {
		return nil, ErrClosed
	}
	if outer := liveLease(ctx, m.c, m.name); outer != nil {
		l, err := m.again(ctx, outer)
		if err == nil || outer.handle.ended() == nil {
			return l, err
		} // else it ended meanwhile, and counts for nothing
	}
	h, err := get(ctx, t)
	if err != nil {
		return nil, err
	}
	l, err := newLease(ctx, h)
	if err != nil {
		h.decline()
	}
	return l, err
}

// again enters a name that ctx holds already.
func (m *Mutex) again(ctx context.Context, outer *Lease) (*Lease, error) {
	h := outer.handle.hold
	if !m.opts.Reentrant {
		return nil, &HeldError{
			Name: m.name, Kind: driver.Mutex.String(), Owner: shortOwner(h.d.Owner), Until: h.expires(), why: ErrDeadlock,
		}
	}
	if err := m.opts.conflict(h.terms); err != nil {
		return nil, err
	}
	return newLease(ctx, h)
}

// wait gets a hold through the local queue. One that came so late that little of
// it is left goes back, and the wait goes on.
func (m *Mutex) wait(ctx context.Context, t terms) (*hold, error) {
	var limit time.Time
	if m.opts.Wait > 0 {
		limit = time.Now().Add(m.opts.Wait)
	}
	var late time.Time // since when all grants came too late
	for {
		h, err := m.queued(ctx, t, limit)
		if err != nil {
			return nil, err
		}
		err = h.tooLate()
		if err == nil {
			return h, nil
		}
		h.decline()
		if late.IsZero() {
			late = time.Now()
		} else if p := m.opts.patience(); p >= 0 && time.Since(late) >= p {
			return nil, err
		}
	}
}

// once gets a hold by a single request.
func (m *Mutex) once(ctx context.Context, t terms) (*hold, error) {
	h, err := m.c.newAttempts(m.key(), t).once(ctx)
	var busy *driver.Busy
	if errors.As(err, &busy) {
		e := &HeldError{Name: m.name}
		e.describe(busy, time.Now())
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	if err := h.tooLate(); err != nil {
		h.decline()
		return nil, err
	}
	return h, nil
}

func (m *Mutex) key() queueKey { return queueKey{m.name, driver.Mutex} }

// leastBear keeps a waiter with little patience from looking all the time.
const leastBear = 50 * time.Millisecond

// queued waits in the local queue until a grant, ctx, the limit, or the end of
// patience.
func (m *Mutex) queued(ctx context.Context, t terms, limit time.Time) (*hold, error) {
	qs := m.c.queues
	q, w, err := qs.join(ctx, m.key(), t, m.opts.MaxWaiters)
	if err != nil {
		return nil, err
	}
	expired, stopLimit := timerAt(limit)
	defer stopLimit()
	patience := m.opts.patience()
	tired := time.NewTimer(patience)
	defer tired.Stop()
	if patience < 0 {
		tired.Stop()
	}
	for cause := error(nil); ; {
		select {
		case g := <-w.ready:
			return g.hold, g.err
		case <-ctx.Done():
			cause = whyEnded(ctx)
		case <-expired:
			cause = context.DeadlineExceeded
		case <-tired.C:
			if left := qs.patience(q, w, patience); left > 0 {
				tired.Reset(max(left, leastBear))
				continue
			}
			cause = ErrUnavailable
		}
		err := qs.refusal(q, w, cause)
		qs.quit(q, w)
		return nil, err
	}
}

// timerAt returns a channel that delivers at t; never for the zero time.
func timerAt(t time.Time) (<-chan time.Time, func() bool) {
	if t.IsZero() {
		return nil, func() bool { return true }
	}
	timer := time.NewTimer(time.Until(t))
	return timer.C, timer.Stop
}
