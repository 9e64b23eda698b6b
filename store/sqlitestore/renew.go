package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// batch is how many holds are renewed in one transaction: enough to make its
// cost small, few enough to let others in between.
const batch = 128

// Renew implements driver.Store.
func (s *Store) Renew(ctx context.Context, hs []driver.Hold, done func(int, driver.Validity, error)) {
	sent := time.Now()
	for from := 0; from < len(hs); from += batch {
		part := hs[from:min(from+batch, len(hs))]
		for i, a := range s.renew(ctx, part) {
			done(from+i, driver.Validity{Sent: sent, TTL: a.life}, a.err)
		}
	}
}

// answer is what becomes of one renewal.
type answer struct {
	life time.Duration
	err  error
}

func (s *Store) renew(ctx context.Context, hs []driver.Hold) []answer {
	as := make([]answer, len(hs))
	st, err := s.session(ctx)
	if err == nil {
		st.hub.start() // from now on an operator can reach us
		err = st.renew(ctx, hs, as)
	}
	if errors.Is(err, errReplaced) {
		s.replace(ctx, st)
		err = fmt.Errorf("%w: %s: %w", driver.ErrGone, st.db.path, err)
	}
	if err != nil {
		for i := range as {
			as[i] = answer{err: err}
		}
	}
	return as
}

func (st *session) renew(ctx context.Context, hs []driver.Hold, as []answer) error {
	return st.db.write(ctx, func(q *queries) error {
		for i, h := range hs {
			var err error
			if as[i], err = st.raise(q, h); err != nil {
				return err
			}
		}
		return nil
	})
}

// raise renews one hold. Its error is the database's; that of the answer is what
// the owner is told.
func (st *session) raise(q *queries, h driver.Hold) (answer, error) {
	now := st.clock.now()
	var expires int64
	ok, err := q.row("raise", []any{h.Name, h.Owner, st.clock.boot, now, after(now, h.TTL), int64(h.TTL)}, &expires)
	if err != nil {
		return answer{}, err
	}
	if ok {
		return answer{life: time.Duration(expires - now)}, nil
	}
	n, err := q.lookup(h.Name)
	if err != nil {
		return answer{}, err
	}
	if n.hold.owner == h.Owner && n.hold.state == revoked && st.left(h.Name, n.hold) > 0 {
		return answer{err: driver.ErrRevoked}, nil
	}
	return answer{err: driver.ErrGone}, nil
}
