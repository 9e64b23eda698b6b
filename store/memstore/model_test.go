package memstore_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/store/memstore"
)

// model is the contract for one name, as plainly as it can be said.
type model struct {
	owner   string // "" when free
	token   int64  // of the latest grant
	until   time.Time
	resting bool
	revoked bool
}

func (m *model) expire() {
	if !time.Now().Before(m.until) {
		*m = model{token: m.token}
	}
}

func (m *model) holds(owner string) bool { return m.owner == owner && !m.resting }

func (m *model) raise(ttl time.Duration) {
	if t := time.Now().Add(ttl); t.After(m.until) {
		m.until = t
	}
}

func (m *model) end(rest time.Duration) {
	if rest > 0 {
		m.resting, m.until = true, time.Now().Add(rest)
		return
	}
	*m = model{token: m.token}
}

// machine compares a store with models of its names.
type machine struct {
	store driver.Store
	names map[string]*model
	top   int64 // the highest token of all names
}

// draw picks a name and an owner; few of each, so that they meet.
func (s *machine) draw(t *rapid.T) (string, *model, string) {
	name := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "name")
	owner := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "owner")
	m := s.names[name]
	if m == nil {
		m = &model{}
		s.names[name] = m
	}
	m.expire()
	return name, m, owner
}

func span(t *rapid.T, label string) time.Duration {
	return time.Duration(rapid.IntRange(1, 10).Draw(t, label)) * time.Second
}

func (s *machine) Try(t *rapid.T) {
	name, m, owner := s.draw(t)
	ttl := span(t, "ttl")
	r := driver.Request{Name: name, Kind: driver.Mutex, Owner: owner, TTL: ttl}
	r.Floor = rapid.Int64Range(0, s.top+2).Draw(t, "floor")
	g, err := s.store.Try(t.Context(), r)
	switch {
	case m.owner == "":
		s.granted(t, m, g, err, r)
		*m = model{owner: owner, token: g.Hold.Token, until: time.Now().Add(ttl)}
	case m.holds(owner) && !m.revoked:
		if err != nil || g.Hold.Token != m.token {
			t.Fatalf("own hold: %+v, %v; want token %d", g, err, m.token)
		}
		m.raise(ttl)
	default:
		s.busy(t, m, err)
	}
}

func (s *machine) granted(t *rapid.T, m *model, g driver.Grant, err error, r driver.Request) {
	if err != nil {
		t.Fatalf("free name: %v", err)
	}
	if g.Hold.Token <= m.token || g.Hold.Token <= r.Floor {
		t.Fatalf("token %d after %d with floor %d", g.Hold.Token, m.token, r.Floor)
	}
	s.top = max(s.top, g.Hold.Token)
}

func (s *machine) busy(t *rapid.T, m *model, err error) {
	var b *driver.Busy
	if !errors.As(err, &b) {
		t.Fatalf("taken name: %v", err)
	}
	if b.Owner != m.owner || b.Resting != m.resting || b.Left != time.Until(m.until) {
		t.Fatalf("told %+v, want %+v", b, m)
	}
}

func (s *machine) Renew(t *rapid.T) {
	name, m, owner := s.draw(t)
	ttl := span(t, "ttl")
	var want error
	switch {
	case !m.holds(owner):
		want = driver.ErrGone
	case m.revoked:
		want = driver.ErrRevoked
	default:
		m.raise(ttl)
	}
	s.store.Renew(t.Context(), []driver.Hold{{Name: name, Owner: owner, TTL: ttl}}, func(_ int, v driver.Validity, err error) {
		if !errors.Is(err, want) {
			t.Fatalf("Renew: %v, want %v", err, want)
		}
		if err == nil && !v.Sent.Add(v.TTL).Equal(m.until) {
			t.Fatalf("valid until %v, want %v", v.Sent.Add(v.TTL), m.until)
		}
	})
}

func (s *machine) Release(t *rapid.T) {
	name, m, owner := s.draw(t)
	rest := time.Duration(rapid.IntRange(0, 3).Draw(t, "rest")) * time.Second
	rel, err := s.store.Release(t.Context(), driver.Hold{Name: name, Owner: owner, Rest: rest})
	want := driver.Released{Freed: m.holds(owner), Token: m.token}
	if err != nil || rel != want {
		t.Fatalf("Release: %+v, %v; want %+v", rel, err, want)
	}
	if want.Freed {
		m.end(rest)
	}
}

func (s *machine) Break(t *rapid.T) {
	name, m, owner := s.draw(t)
	token := m.token + rapid.Int64Range(-1, 0).Draw(t, "off")
	now := rapid.Bool().Draw(t, "now")
	var want error
	if m.owner != owner || m.token != token {
		want = driver.ErrGone
	}
	if err := s.store.(driver.Breaker).Break(t.Context(), name, owner, token, now); !errors.Is(err, want) {
		t.Fatalf("Break: %v, want %v", err, want)
	}
	switch {
	case want != nil:
	case now:
		m.end(0)
	default:
		m.revoked = true
	}
}

func (s *machine) Pass(t *rapid.T) { <-time.After(span(t, "time") / 2) }

// Check compares what Inspect shows.
func (s *machine) Check(t *rapid.T) {
	var want, got []string
	for _, name := range []string{"x", "y"} {
		if m := s.names[name]; m != nil {
			if m.expire(); m.owner != "" {
				want = append(want, fmt.Sprint(name, m.owner, m.token, time.Until(m.until), m.resting, m.revoked))
			}
		}
	}
	hs, err := s.store.(driver.Inspector).Inspect(t.Context(), "")
	if err != nil {
		t.Fatalf("Inspect: %v", err)
	}
	for _, h := range hs {
		got = append(got, fmt.Sprint(h.Name, h.Owner, h.Token, h.Left, h.Resting, h.Revoked))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("Inspect shows %v, want %v", got, want)
	}
}

// timeless hides the Deadline of a test, which has none in a bubble.
type timeless struct{ testing.TB }

func TestModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(timeless{t}, func(t *rapid.T) {
			s := &machine{store: memstore.NewServer().Store(), names: map[string]*model{}}
			t.Repeat(map[string]func(*rapid.T){
				"Try": s.Try, "Renew": s.Renew, "Release": s.Release, "Break": s.Break, "Pass": s.Pass, "": s.Check,
			})
		})
	})
}
