package sqlitestore

import (
	"context"
	"database/sql"

	"github.com/holdfast-go/holdfast/driver"
)

// Break implements driver.Breaker.
func (s *Store) Break(ctx context.Context, name, owner string, token int64, now bool) error {
	return s.do(ctx, func(st *session) error {
		return st.breakHold(ctx, name, owner, token, now)
	})
}

func (st *session) breakHold(ctx context.Context, name, owner string, token int64, now bool) error {
	var h hold
	var waiting []string
	err := st.db.write(ctx, func(q *queries) error {
		n, err := q.lookup(name)
		if err != nil {
			return err
		}
		h = n.hold
		if h.owner != owner || h.token != token || st.left(name, h) <= 0 {
			return driver.ErrGone
		}
		waiting, err = st.revoke(q, name, h, now)
		return err
	})
	if err != nil {
		return err
	}
	if len(waiting) > 0 {
		st.store.place.touch(bucket(name))
	}
	if h.client != "" {
		st.store.place.touch(liveFile(h.client))
	}
	return nil
}

// revoke leaves word for the holder. A tombstone has none, and stays unless it
// shall go now.
func (st *session) revoke(q *queries, name string, h hold, now bool) ([]string, error) {
	if h.state == held {
		if err := q.exec("revoke", name, h.owner); err != nil {
			return nil, err
		}
	}
	if h.client != "" {
		if err := q.exec("break", h.client, name, h.owner); err != nil {
			return nil, err
		}
	}
	if !now {
		return nil, nil
	}
	if err := q.exec("clear", name); err != nil {
		return nil, err
	}
	return st.waiters(q, name, true)
}

// tellBroken runs when somebody touched this client's liveness file: an operator
// has taken something away.
func (st *session) tellBroken() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var events []driver.Event
	err := st.db.write(ctx, func(q *queries) error {
		return q.each("broken", []any{st.live.id}, func(row *sql.Rows) error {
			e := driver.Event{Kind: driver.Revoked}
			err := row.Scan(&e.Name, &e.Owner)
			events = append(events, e)
			return err
		})
	})
	if err != nil {
		return
	}
	for _, e := range events {
		st.store.notify(e)
	}
}
