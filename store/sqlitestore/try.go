package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// maxToken is the largest number that every language's JSON reader keeps exact.
const maxToken = 1<<53 - 1

// keepIdle is how long a free name is remembered. A forgotten name starts again
// above every forgotten token.
const keepIdle = 24 * time.Hour

// Try implements driver.Store.
func (s *Store) Try(ctx context.Context, r driver.Request) (driver.Grant, error) {
	sent := time.Now()
	if r.Kind != driver.Mutex {
		return driver.Grant{}, fmt.Errorf("%w: sqlite has no locks of kind %v", driver.ErrRefused, r.Kind)
	}
	var h hold
	var life time.Duration
	err := s.do(ctx, func(st *session) (err error) {
		h, life, err = st.tryAlive(ctx, r)
		return err
	})
	if err != nil {
		return driver.Grant{}, err
	}
	return driver.Grant{
		Hold: driver.Hold{
			Name: r.Name, Kind: r.Kind, Owner: r.Owner, Token: h.token,
			TTL: r.TTL, NotAfter: r.NotAfter,
		},
		First: h.token, Last: h.token,
		Validity: driver.Validity{Sent: sent, TTL: life},
	}, nil
}

// taken is a refusal, with the hold that is in the way.
type taken struct {
	driver.Busy
	hold hold
}

func (t *taken) Unwrap() error { return &t.Busy }

// tryAlive is try that takes no for an answer from the living only.
func (st *session) tryAlive(ctx context.Context, r driver.Request) (hold, time.Duration, error) {
	for {
		h, life, err := st.try(ctx, r)
		var t *taken
		if !errors.As(err, &t) {
			return h, life, err
		}
		if !st.reap(ctx, t.hold.client) {
			return hold{}, 0, &t.Busy
		}
	}
}

// try makes the attempt and returns the hold and what is left of its life.
func (st *session) try(ctx context.Context, r driver.Request) (h hold, life time.Duration, err error) {
	err = st.db.write(ctx, func(q *queries) error {
		if !r.NotAfter.IsZero() && time.Now().After(r.NotAfter) {
			return fmt.Errorf("%w %w: the request came too late", driver.ErrRefused, driver.ErrTemporary)
		}
		n, err := q.lookup(r.Name)
		if err != nil {
			return err
		}
		left := st.left(r.Name, n.hold)
		now := st.clock.now()
		switch {
		case left <= 0:
			h, err = st.take(q, r, n, now)
		case n.hold.kind != r.Kind:
			return driver.ErrKind
		case n.hold.owner == r.Owner && n.hold.state == held:
			h, err = st.again(q, r, n.hold, now)
		default:
			return st.refuse(n.hold, left)
		}
		life = time.Duration(h.expires - now)
		return err
	})
	return h, life, err
}

func (st *session) refuse(h hold, left time.Duration) error {
	return &taken{hold: h, Busy: driver.Busy{
		Owner: h.owner, Kind: h.kind, Left: left, Resting: h.state == resting, Seen: h.mark(),
	}}
}

// again answers an owner that holds the name already.
func (st *session) again(q *queries, r driver.Request, h hold, now int64) (hold, error) {
	_, err := q.row("raise", []any{r.Name, r.Owner, st.clock.boot, now, after(now, r.TTL), int64(r.TTL)}, &h.expires)
	return h, err
}

// take gives the name to r. What is left of a hold before has ended.
func (st *session) take(q *queries, r driver.Request, n name, now int64) (hold, error) {
	token, err := n.next(r.Floor)
	if err != nil {
		return hold{}, err
	}
	if n.hold.owner != "" {
		if err := q.exec("clear", r.Name); err != nil {
			return hold{}, err
		}
		st.store.foreign.forget(r.Name)
	}
	h := hold{
		owner: r.Owner, kind: r.Kind, state: held, token: token, client: st.live.id,
		boot: st.clock.boot, expires: after(now, r.TTL), life: int64(r.TTL),
	}
	if err := q.exec("hold", r.Name, h.owner, h.kind, h.token, h.client, h.boot, now, h.expires, h.life); err != nil {
		return hold{}, err
	}
	return h, q.advance(r.Name, n, token)
}

// name is what the database knows of a name.
type name struct {
	last  int64 // its latest token; 0: it is new
	floor int64 // new names start above
	hold  hold
}

func (q *queries) lookup(s string) (name, error) {
	var n name
	_, err := q.row("lookup", []any{s}, append([]any{&n.last, &n.floor}, n.hold.columns()...)...)
	return n, err
}

// next is the token of the next grant. A new name starts at the wall clock's
// microseconds, so that tokens go on after the database was deleted.
func (n name) next(floor int64) (int64, error) {
	last := max(n.last, floor)
	if n.last == 0 {
		last = max(last, n.floor, time.Now().UnixMicro()-1)
	}
	if last >= maxToken {
		return 0, fmt.Errorf("%w: the latest token is %d, and none is greater than %d: rename the lock", driver.ErrCorrupt, last, int64(maxToken))
	}
	return last + 1, nil
}

// advance stores the token of a grant, and forgets some idle names for each new
// one.
func (q *queries) advance(s string, n name, token int64) error {
	hour := time.Now().Unix() / 3600
	if err := q.exec("count", s, token, hour); err != nil || n.last != 0 {
		return err
	}
	floor := int64(0)
	err := q.each("forget", []any{hour - int64(keepIdle/time.Hour)}, func(row *sql.Rows) error {
		var t int64
		err := row.Scan(&t)
		floor = max(floor, t)
		return err
	})
	if err != nil || floor == 0 {
		return err
	}
	return q.exec("floor", floor)
}
