package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Inspect implements driver.Inspector. It looks at the clients first, so that
// the dead hold and wait for nothing.
func (s *Store) Inspect(ctx context.Context, name string) ([]driver.Holding, error) {
	var all []driver.Holding
	err := s.do(ctx, func(st *session) error {
		st.reapAll(ctx)
		return st.db.read(ctx, func(q *queries) error {
			all = nil // of an attempt before
			return q.each("inspect", []any{name}, func(row *sql.Rows) error {
				h, live, err := st.holding(row)
				if live {
					all = append(all, h)
				}
				return err
			})
		})
	})
	return all, err
}

// holding reads a row of inspect.sql and reports whether it still counts.
func (st *session) holding(row *sql.Rows) (x driver.Holding, live bool, err error) {
	var h hold
	var since, started int64
	c := &x.Client
	to := append([]any{&x.Name, &since}, h.columns()...)
	to = append(to, &c.ID, &c.Host, &c.PID, &c.Program, &c.Label, &started, &x.Waiters)
	if err := row.Scan(to...); err != nil {
		return x, false, err
	}
	x.Kind, x.Owner, x.Token = h.kind, h.owner, h.token
	x.Left = st.left(x.Name, h)
	x.Resting, x.Revoked = h.state == resting, h.state == revoked
	if h.boot == st.clock.boot {
		x.Since = time.Now().Add(time.Duration(since - st.clock.now()))
	}
	if started != 0 {
		c.Started = time.UnixMilli(started)
	}
	return x, x.Left > 0, nil
}
