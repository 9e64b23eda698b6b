package sqlitestore

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Release implements driver.Store.
func (s *Store) Release(ctx context.Context, h driver.Hold) (driver.Released, error) {
	var r driver.Released
	err := s.do(ctx, func(st *session) (err error) {
		r, err = st.release(ctx, h)
		return err
	})
	return r, err
}

func (st *session) release(ctx context.Context, x driver.Hold) (driver.Released, error) {
	var r driver.Released
	var waiting []string
	err := st.db.write(ctx, func(q *queries) error {
		n, err := q.lookup(x.Name)
		if err != nil {
			return err
		}
		r = driver.Released{Token: n.last}
		if n.hold.owner == x.Owner && n.hold.state != resting && st.left(x.Name, n.hold) > 0 {
			r.Freed = true
			err = st.free(q, x.Name, x.Owner, x.Rest)
		}
		if err != nil {
			return err
		}
		waiting, err = st.waiters(q, x.Name, r.Freed)
		return err
	})
	if err != nil {
		return driver.Released{}, err
	}
	if r.Freed && len(waiting) > 0 {
		st.store.place.touch(bucket(x.Name))
	}
	r.Waiters = st.livingOthers(waiting)
	return r, nil
}

// free ends a hold, or lets it rest.
func (st *session) free(q *queries, name, owner string, rest time.Duration) error {
	if rest > 0 {
		return q.exec("rest", name, owner, after(st.clock.now(), rest), int64(rest))
	}
	return q.exec("clear", name)
}

// waiters returns the clients that wait for name. With signal their rows go:
// the caller touches the name's bucket once that is committed.
func (st *session) waiters(q *queries, name string, signal bool) ([]string, error) {
	ids, err := q.strings("waiters", name)
	if err != nil || len(ids) == 0 || !signal {
		return ids, err
	}
	return ids, q.exec("signal", name)
}

// livingOthers counts the clients other than this one that are not dead.
func (st *session) livingOthers(ids []string) int {
	n := 0
	for _, id := range ids {
		if id != st.live.id && !st.store.place.isDead(id) {
			n++
		}
	}
	return n
}
