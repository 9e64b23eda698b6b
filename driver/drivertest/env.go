package drivertest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// env is what one case works with.
type env struct {
	testing.TB
	id      string // promise/rule
	says    string // the rule
	direct  bool
	virtual bool

	ctx     context.Context // bounds all calls of the case, so that none hangs
	open    func() driver.Store
	first   *client // a client that every case has
	profile driver.Profile

	unit  time.Duration // TTL of a short hold
	long  time.Duration // TTL of a hold that outlives the case
	slack time.Duration // how late expiry and signals may show
	names int
}

// broken reports that the store breaks the rule of this case.
func (e *env) broken(format string, args ...any) {
	e.Helper()
	e.Errorf("%s: %s; %s", e.id, e.says, fmt.Sprintf(format, args...))
}

// fatal is broken for where the case cannot go on. It must be called by the
// goroutine of the case.
func (e *env) fatal(format string, args ...any) {
	e.Helper()
	e.Fatalf("%s: %s; %s", e.id, e.says, fmt.Sprintf(format, args...))
}

// name returns a name that nobody has used in this place.
func (e *env) name() string {
	e.names++
	return fmt.Sprintf("drivertest/%s/%d", e.id, e.names)
}

// tolerance is how far two looks at one moment may lie apart: the store's unit
// of time, and in real time what clocks of two machines differ in rate.
func (e *env) tolerance() time.Duration {
	if e.virtual {
		return e.profile.Unit
	}
	return e.profile.Unit + 20*time.Millisecond
}

// pass lets time pass.
func (e *env) pass(d time.Duration) {
	e.Helper()
	if !sleep(e.ctx, d) {
		e.fatal("the case took too long")
	}
}

// passed lets time pass until m has surely passed.
func (e *env) passed(m moment) {
	e.Helper()
	e.pass(time.Until(m.to) + e.tolerance())
}

// soon is when something promised for m must have shown.
func (e *env) soon(m moment) time.Time { return m.to.Add(e.slack + e.tolerance()) }

// ends runs fn, which must return in time and without an error.
func (e *env) ends(what string, limit time.Duration, fn func() error) {
	e.Helper()
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = fn()
	}()
	if !receive(done, limit) {
		e.fatal("%s did not return within %v", what, limit)
	}
	if err != nil {
		e.broken("%s %v", what, err)
	}
}

// receive waits for c to be closed, at most for limit.
func receive(c <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
	}
	select {
	case <-c: // at the same time
		return true
	default:
		return false
	}
}

// moment is the stretch of time in which something happened in the store: while
// a call was under way. In a bubble it has no length.
type moment struct{ from, to time.Time }

// during returns the moment of fn.
func during(fn func()) moment {
	from := time.Now()
	fn()
	return moment{from, time.Now()}
}

func (m moment) plus(d time.Duration) moment { return moment{m.from.Add(d), m.to.Add(d)} }

// before reports that m certainly lies before x.
func (e *env) before(m, x moment) bool { return m.to.Add(e.tolerance()).Before(x.from) }

// same reports that m and x may be one moment.
func (e *env) same(m, x moment) bool { return !e.before(m, x) && !e.before(x, m) }

// apart says how much later m is than x, for messages.
func apart(m, x moment) string {
	d := m.to.Sub(x.to)
	if d < 0 {
		return fmt.Sprintf("%v too early", -d)
	}
	return fmt.Sprintf("%v too late", d)
}
