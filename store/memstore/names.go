package memstore

import "time"

const (
	// keep is how long a name is remembered after its last hold.
	keep = time.Minute
	// minSweep is the number of names below which nothing is swept.
	minSweep = 64
)

// peek returns what is known of name, without making it known.
func (s *Server) peek(name string, now time.Time) *lock {
	l := s.locks[name]
	if l == nil {
		return &lock{}
	}
	l.expire(now)
	return l
}

// obtain returns what is known of name and remembers it from now on.
func (s *Server) obtain(name string, now time.Time) *lock {
	if s.locks[name] == nil {
		s.sweep(now)
		s.marks++
		s.locks[name] = &lock{token: s.base, touched: now, mark: s.marks}
	}
	return s.peek(name, now)
}

// sweep forgets names that nobody has had for a while; nobody waits for them
// either, since the end of the last hold has woken all. Their tokens go on: a
// name that comes back starts above every forgotten one. It runs when the
// number of names has doubled since the last time, so that its cost for each
// new name is constant.
func (s *Server) sweep(now time.Time) {
	if len(s.locks) < s.sweepAt {
		return
	}
	for name, l := range s.locks {
		l.expire(now)
		if len(l.holds) == 0 && now.Sub(l.touched) >= keep {
			s.base = max(s.base, l.token)
			delete(s.locks, name)
		}
	}
	s.sweepAt = max(minSweep, 2*len(s.locks))
}

// wake tells everybody who waits for l, or is about to, to try again.
func (s *Server) wake(l *lock) {
	s.marks++
	l.mark = s.marks
	if l.signal != nil {
		close(l.signal)
		l.signal = nil
	}
}
