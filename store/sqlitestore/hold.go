package sqlitestore

import (
	"math"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// state is what became of a hold.
type state int

const (
	held    state = iota + 1
	revoked       // an operator took it away; its owner has not let go yet
	resting       // nobody works under it
)

// hold is a row of holds. The zero hold is none.
type hold struct {
	owner   string
	kind    driver.Kind
	state   state
	token   int64
	client  string // empty when resting
	boot    string
	expires int64
	life    int64
}

// columns are where a row is read into.
func (h *hold) columns() []any {
	return []any{&h.owner, &h.kind, &h.state, &h.token, &h.client, &h.boot, &h.expires, &h.life}
}

// mark is Busy.Seen: what a waiter saw when it was refused. Owners are never
// used twice, so every change of hands and every end shows.
type mark struct {
	owner string
	state state
}

func (h hold) mark() mark { return mark{h.owner, h.state} }

// left is how long h keeps its name; 0 or less if it does not.
func (st *session) left(name string, h hold) time.Duration {
	switch {
	case h.owner == "":
		return 0
	case h.boot == st.clock.boot:
		return time.Duration(h.expires - st.clock.now())
	}
	return st.store.foreign.left(name, h)
}

// sightings remembers rows of another boot, whose instants mean nothing here: one
// that has not changed for its whole life, on our own clock, has ended.
type sightings struct {
	mu   sync.Mutex          // guards seen
	seen map[string]sighting // by name
}

type sighting struct {
	hold  hold
	since time.Time
}

// left is how much of its life h has ahead, counted from when it was first seen
// as it is.
func (v *sightings) left(name string, h hold) time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	s, ok := v.seen[name]
	if !ok || s.hold != h {
		if v.seen == nil {
			v.seen = map[string]sighting{}
		}
		s = sighting{hold: h, since: time.Now()}
		v.seen[name] = s
	}
	return time.Duration(h.life) - time.Since(s.since)
}

// forget ends the watch over name.
func (v *sightings) forget(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.seen, name)
}

// after is the instant d after now, or the last one there is.
func after(now int64, d time.Duration) int64 {
	if int64(d) > math.MaxInt64-now {
		return math.MaxInt64
	}
	return now + int64(d)
}
