package sqlitestore

import (
	"context"
	"time"
)

// sweepEvery is how often, over all clients, the dead whom nobody asks about are
// looked for.
const sweepEvery = time.Hour

// reap removes everything of a client that is dead. It reports whether the client
// was dead: if so the name that it held may be free now. Those who wait for its
// names have been told of its death by the kernel.
func (st *session) reap(ctx context.Context, id string) bool {
	if id == "" || id == st.live.id {
		return false
	}
	c := st.store.place.dead(id)
	if c == nil {
		return false
	}
	if st.unregister(ctx, id) != nil {
		_ = c.file.Close()
		return false
	}
	c.remove()
	return true
}

func (st *session) unregister(ctx context.Context, ids ...string) error {
	return st.db.write(ctx, func(q *queries) error {
		for _, id := range ids {
			if err := q.exec("unregister", id); err != nil {
				return err
			}
		}
		return nil
	})
}

// sweep removes the dead, the closed and what has expired, unless somebody did so
// within the hour. Its failure is no failure of the caller's.
func (st *session) sweep(ctx context.Context) {
	var mine int64
	var idle []string
	err := st.db.write(ctx, func(q *queries) (err error) {
		now := time.Now()
		mine, err = q.count("claim_sweep", now.Add(-sweepEvery).Unix(), now.Unix())
		if err != nil || mine == 0 {
			return err
		}
		if err := q.exec("purge_holds", st.clock.boot, st.clock.now()); err != nil {
			return err
		}
		idle, err = q.strings("idle")
		return err
	})
	if err == nil && mine > 0 {
		st.reapAll(ctx)
		_ = st.unregister(ctx, st.store.place.closed(idle)...)
	}
}

// reapAll looks at every client that has a liveness file.
func (st *session) reapAll(ctx context.Context) {
	ids, err := st.store.place.ids()
	if err != nil {
		return
	}
	for _, id := range ids {
		if ctx.Err() != nil {
			return
		}
		st.reap(ctx, id)
	}
}
