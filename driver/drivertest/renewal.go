package drivertest

import (
	"cmp"
	"errors"
	"sync"

	"github.com/holdfast-go/holdfast/driver"
)

var renewal = promise{"renewal", []rule{
	{"once", "Renew calls done exactly once for each index, before it returns", renewOnce},
	{"mixed", "a hold that is gone does not keep others from being renewed", renewMixed},
	{"none", "Renew of nothing calls nothing", renewNone},
	{"concurrent", "calls of Renew may run at once", renewConcurrent},
	{"unlocked", "done is called holding no lock of the store", renewUnlocked},
}}

// reports counts the calls of done by index.
type reports struct {
	mu   sync.Mutex
	n    map[int]int
	errs map[int]error
}

func (r *reports) done(i int, _ driver.Validity, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n[i]++
	r.errs[i] = err
}

// renewOf renews hs and checks that each was reported once.
func (e *env) renewOf(c *client, hs []driver.Hold) map[int]error {
	e.Helper()
	r := &reports{n: map[int]int{}, errs: map[int]error{}}
	c.Renew(e.ctx, hs, r.done)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range hs {
		if r.n[i] != 1 {
			e.broken("done was called %d times for index %d of %d", r.n[i], i, len(hs))
		}
	}
	if len(r.n) > len(hs) {
		e.broken("done was called for %d indices of %d", len(r.n), len(hs))
	}
	return r.errs
}

// many takes n names.
func (e *env) many(n int) []driver.Hold {
	e.Helper()
	var hs []driver.Hold
	for range n {
		h := e.first.take(e.name(), e.long/2).Hold
		h.TTL = e.long
		hs = append(hs, h)
	}
	return hs
}

func renewOnce(e *env) {
	for _, n := range []int{1, 2, 200} {
		for i, err := range e.renewOf(e.first, e.many(n)) {
			if err != nil {
				e.broken("Renew of a live hold, %d of %d, failed: %v", i, n, err)
			}
		}
	}
}

func renewMixed(e *env) {
	other := e.client()
	hs := e.many(9)
	for i := 0; i < len(hs); i += 2 {
		e.first.end(hs[i])
	}
	taken := other.take(hs[2].Name, e.long) // gone, and another's
	errs := e.renewOf(e.first, hs)
	for i := range hs {
		switch gone := i%2 == 0; {
		case gone && !errors.Is(errs[i], driver.ErrGone):
			e.broken("index %d of a released hold said %v, want %v", i, errs[i], driver.ErrGone)
		case !gone && errs[i] != nil:
			e.broken("index %d of a live hold, between gone ones, failed: %v", i, errs[i])
		case !gone:
			if b := other.heldBy(hs[i].Name, hs[i].Owner); b.Left <= e.long/2 {
				e.broken("index %d was reported as renewed and has %v left", i, b.Left)
			}
		}
	}
	e.first.heldBy(hs[2].Name, taken.Hold.Owner)
	other.free(hs[0].Name)
}

func renewNone(e *env) {
	calls := 0
	e.first.Renew(e.ctx, nil, func(int, driver.Validity, error) { calls++ })
	if calls > 0 {
		e.broken("it called done %d times", calls)
	}
}

func renewConcurrent(e *env) {
	hs := e.many(40)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 3 {
				for _, err := range e.renewOf(e.first, hs[5*i:5*i+5]) {
					if err != nil {
						e.broken("Renew of a live hold failed: %v", err)
					}
				}
			}
		})
	}
	all.Wait()
}

func renewUnlocked(e *env) {
	hs := e.many(3)
	e.ends("Renew, whose done uses the store,", 5*e.unit+e.slack, func() error {
		released := make(chan error, len(hs))
		e.first.Renew(e.ctx, hs, func(i int, _ driver.Validity, _ error) {
			_, err := e.first.Release(e.ctx, hs[i])
			released <- err
		})
		return cmp.Or(<-released, <-released, <-released)
	})
	for _, h := range hs {
		e.first.free(h.Name)
	}
}
