package sqlitestore

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

// session is one opened folder. It ends with its Store, or when the folder or
// the database in it turns out to have been replaced.
type session struct {
	clock clock
	db    *database
	live  *liveness
	hub   *hub
	store *Store
}

// enter waits for the right to open or close sessions.
func (s *Store) enter(ctx context.Context) error {
	select {
	case s.opening <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", driver.ErrUnavailable, ctx.Err())
	}
}

func (s *Store) leave() { <-s.opening }

// session returns the open session, and opens one if there is none.
func (s *Store) session(ctx context.Context) (*session, error) {
	if s.isClosed() {
		return nil, driver.ErrClosed
	}
	if st := s.current.Load(); st != nil {
		return st, nil
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if st := s.current.Load(); st != nil || s.isClosed() {
		return s.session(ctx)
	}
	st, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	s.current.Store(st)
	return st, nil
}

// replace ends a session whose database has gone.
func (s *Store) replace(ctx context.Context, old *session) {
	if s.enter(ctx) != nil {
		return
	}
	defer s.leave()
	if s.current.CompareAndSwap(old, nil) {
		_ = old.close(ctx)
	}
}

// do runs fn in the open session, and once more in a new one if the database
// has been replaced.
func (s *Store) do(ctx context.Context, fn func(*session) error) error {
	for again := true; ; again = false {
		st, err := s.session(ctx)
		if err != nil {
			return err
		}
		err = fn(st)
		if !errors.Is(err, errReplaced) {
			return err
		}
		s.replace(ctx, st)
		if !again {
			return fmt.Errorf("%w: %w", driver.ErrUnavailable, err)
		}
	}
}

// open makes the folder ready and registers this client in it: first the
// liveness file, then the row.
func (s *Store) open(ctx context.Context) (st *session, err error) {
	st = &session{store: s}
	if st.clock, err = newClock(); err != nil {
		return nil, fmt.Errorf("%w: %w", driver.ErrRefused, err)
	}
	if err := s.place.prepare(); err != nil {
		return nil, explainFile(err)
	}
	if st.live, err = s.place.live(); err != nil {
		return nil, explainFile(err)
	}
	st.hub = newHub(s.place.dir, liveFile(st.live.id), st.tellBroken, s.notify)
	st.db, err = openDatabase(ctx, s.place, s.done)
	if err == nil {
		err = st.register(ctx)
	}
	if err != nil {
		st.abandon()
		return nil, err
	}
	return st, nil
}

func (st *session) register(ctx context.Context) error {
	i := st.store.info
	var started int64
	if !i.Started.IsZero() {
		started = i.Started.UnixMilli()
	}
	err := st.db.write(ctx, func(q *queries) error {
		return q.exec("register", st.live.id, i.ID, i.Host, i.PID, i.Program, i.Label, started)
	})
	if err != nil {
		return err
	}
	st.sweep(ctx)
	return nil
}

// abandon undoes a failed open.
func (st *session) abandon() {
	st.live.discard()
	st.hub.close()
	if st.db != nil {
		_ = st.db.close(context.Background())
	}
}

// close ends the session. Holds that are left keep their rows, and the liveness
// file goes: without it nobody can say that their owner is dead, so that they
// stay until they expire. Their owner may still be at work.
func (st *session) close(ctx context.Context) error {
	st.hub.close()
	brief, cancel := context.WithTimeout(ctx, tidy)
	defer cancel()
	_ = st.db.finish(brief, func(q *queries) error {
		if err := q.exec("withdraw", st.live.id); err != nil {
			return err
		}
		return q.exec("retire", st.live.id, st.clock.boot, st.clock.now())
	})
	st.live.discard()
	return st.db.close(ctx)
}
