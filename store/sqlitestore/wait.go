package sqlitestore

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

const (
	// poll is how often a waiter looks where nothing wakes it.
	poll = 250 * time.Millisecond
	// unlockLag is how long a client's lock may outlive the signal of its end:
	// the kernel sends the signal first.
	unlockLag = 200 * time.Millisecond
	// jitter keeps the waiters of one name from coming back together.
	jitter = 5 * time.Millisecond
)

// looks say when a waiter looks although nothing woke it.
type looks struct {
	first time.Duration // catches a holder that died while the watch was set up
	later time.Duration // catches what else might be missed
}

var usualLooks = looks{first: 25 * time.Millisecond, later: 10 * time.Second}

// errSignalled says that the name has changed since the waiter was refused.
var errSignalled = errors.New("signalled")

// Wait implements driver.Store. It is a row in the database while it lasts;
// whoever frees the name deletes the row and touches a file. Since the row is
// made in a transaction that also compares the name with what the attempt saw,
// no signal is lost between the two.
func (s *Store) Wait(ctx context.Context, r driver.Request, b *driver.Busy) error {
	st, err := s.session(ctx)
	if err == nil {
		err = st.wait(ctx, r, b)
	}
	if errors.Is(err, errReplaced) {
		s.replace(ctx, st)
	}
	switch {
	case s.isClosed():
		return driver.ErrClosed
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil || errors.Is(err, errSignalled) || errors.Is(err, errReplaced):
		return nil
	}
	return s.pause(ctx, poll) // trouble below counts as a poll
}

func (s *Store) pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-s.done:
		return driver.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (st *session) wait(ctx context.Context, r driver.Request, b *driver.Busy) error {
	w := &waiter{st: st, r: r, every: st.store.looks.first, listener: st.hub.listen(bucket(r.Name))}
	defer st.hub.mute(w.listener)
	if err := w.enlist(ctx, b); err != nil {
		return err
	}
	defer w.delist()
	for {
		every := w.interval()
		left, err := w.look(ctx)
		if err != nil {
			return err
		}
		if err := w.sleep(ctx, min(every, left+rand.N(jitter))); err != nil {
			return err
		}
	}
}

// waiter is one call of Wait.
type waiter struct {
	st       *session
	r        driver.Request
	listener *listener
	every    time.Duration // with a watch, when to look next at the latest
	gone     bool          // our row is known to be gone
}

// interval makes sure of the watch, before a look, and returns when to look
// again at the latest.
func (w *waiter) interval() time.Duration {
	if !w.st.hub.start() {
		return poll
	}
	d := w.every
	w.every = w.st.store.looks.later
	return d
}

// enlist makes the row, or says that there was a signal since the attempt.
func (w *waiter) enlist(ctx context.Context, b *driver.Busy) error {
	return w.st.db.write(ctx, func(q *queries) error {
		n, err := q.lookup(w.r.Name)
		if err != nil {
			return err
		}
		if n.hold.mark() != b.Seen {
			return errSignalled
		}
		return q.exec("enlist", w.r.Name, w.r.Owner, w.st.live.id)
	})
}

// delist removes the row although ctx may have ended.
func (w *waiter) delist() {
	if w.gone {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tidy)
	defer cancel()
	_ = w.st.db.finish(ctx, func(q *queries) error {
		return q.exec("delist", w.r.Name, w.r.Owner)
	})
}

// look returns what is left of the hold, or errSignalled if the name may be free.
func (w *waiter) look(ctx context.Context) (left time.Duration, err error) {
	var h hold
	err = w.st.db.read(ctx, func(q *queries) error {
		ok, err := q.row("waiting", []any{w.r.Name, w.r.Owner}, h.columns()...)
		w.gone = err == nil && !ok
		return err
	})
	left = w.st.left(w.r.Name, h)
	switch {
	case err != nil:
		return 0, err
	case w.gone, left <= 0, h.client != "" && w.st.store.place.isDead(h.client):
		return 0, errSignalled
	}
	w.st.hub.follow(w.listener, liveFile(h.client))
	return left, nil
}

// sleep returns nil when it is time to look.
func (w *waiter) sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-w.listener.signal:
		return nil
	case <-w.listener.death:
		return w.awaitUnlock(ctx)
	case <-w.st.store.done:
		return driver.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// awaitUnlock looks until the dead holder's lock has gone too, or its rows.
func (w *waiter) awaitUnlock(ctx context.Context) error {
	for pause := 100 * time.Microsecond; pause < unlockLag; pause *= 2 {
		if _, err := w.look(ctx); err != nil {
			return err
		}
		if err := w.st.store.pause(ctx, pause); err != nil {
			return err
		}
	}
	return nil
}
