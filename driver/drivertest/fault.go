package drivertest

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Method names a method of a store.
type Method string

// The methods that a Faulty can disturb.
const (
	Try     Method = "Try"
	Wait    Method = "Wait"
	Renew   Method = "Renew"
	Release Method = "Release"
	Break   Method = "Break"
	Inspect Method = "Inspect"
)

// Call is one call of a store's method, as it was made. Renew makes one Call
// for each of its holds, all with the same N.
type Call struct {
	N       int // counts the calls of a Faulty from 1
	Method  Method
	Name    string
	Owner   string
	At      time.Time
	Request driver.Request // of Try and Wait
	Hold    driver.Hold    // of Renew and Release
}

// Fault is what happens to one call on its way to the store and back. The zero
// Fault is none. Like a network, it goes on when the caller has given up: a
// request that is late still arrives.
type Fault struct {
	// Before is how long the request travels.
	Before time.Duration
	// After is how long the reply travels.
	After time.Duration
	// LoseRequest: the store never sees the request.
	LoseRequest bool
	// LoseReply: the store does what was asked; the caller never hears of it.
	LoseReply bool
	// Err is what the caller of a lost request or reply is told, at once: as
	// when a connection breaks. Without it, the caller hears nothing until its
	// ctx ends, and then driver.ErrUnknown.
	Err error
	// Again delivers a copy of the request so long after it arrived, or would
	// have. Nobody hears the answer.
	Again []time.Duration
}

func (f Fault) none() bool {
	return f.Before == 0 && f.After == 0 && !f.LoseRequest && !f.LoseReply && len(f.Again) == 0
}

// log is what a Faulty knows of calls: those made, and the plan for those to
// come. The Faulty's mutex guards it.
type log struct {
	n     int
	calls []Call
	next  map[Method][]Fault
	plan  func(Call) Fault
}

// number begins a call.
func (f *Faulty) number() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log.n++
	return f.log.n
}

// record keeps c and decides its fault.
func (f *Faulty) record(c Call) Fault {
	f.mu.Lock()
	c.At = time.Now()
	f.log.calls = append(f.log.calls, c)
	if q := f.log.next[c.Method]; len(q) > 0 {
		f.log.next[c.Method] = q[1:]
		f.mu.Unlock()
		return q[0]
	}
	plan := f.log.plan
	f.mu.Unlock()
	if plan == nil {
		return Fault{}
	}
	return plan(c)
}

// Plan asks plan for the fault of each call to come, unless Next has one. It
// may be called from many goroutines at once, and may use f. nil: no faults.
func (f *Faulty) Plan(plan func(Call) Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log.plan = plan
}

// Next disturbs the next calls of m, one for each fault.
func (f *Faulty) Next(m Method, faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log.next[m] = append(f.log.next[m], faults...)
}

// Calls returns the calls of the given methods so far, in order; without
// methods, all calls.
func (f *Faulty) Calls(ms ...Method) []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	var cs []Call
	for _, c := range f.log.calls {
		if len(ms) == 0 || slices.Contains(ms, c.Method) {
			cs = append(cs, c)
		}
	}
	return cs
}

// Forget empties the record of calls.
func (f *Faulty) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log.calls = nil
}
