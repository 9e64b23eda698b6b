package drivertest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// reply is the answer for one hold.
type reply struct {
	i   int
	v   driver.Validity
	err error
}

// Renew implements driver.Store. Each hold has its own fault, so that one may
// be late or lost while the others of its call are answered. The holds without
// a fault travel together.
func (f *Faulty) Renew(ctx context.Context, hs []driver.Hold, done func(int, driver.Validity, error)) {
	sent := time.Now()
	n := f.number()
	answers := make(chan reply, len(hs))
	var plain []int
	for i, h := range hs {
		fault := f.record(Call{N: n, Method: Renew, Name: h.Name, Owner: h.Owner, Hold: h})
		if fault.none() {
			plain = append(plain, i)
			continue
		}
		f.renew(ctx, hs, []int{i}, fault, answers)
	}
	if len(plain) > 0 {
		f.renew(ctx, hs, plain, Fault{}, answers)
	}
	for range hs {
		a := <-answers
		if a.err == nil {
			a.v.Sent = sent
		}
		done(a.i, a.v, a.err)
	}
}

// renew sends the holds at the given places in one request.
func (f *Faulty) renew(ctx context.Context, hs []driver.Hold, at []int, fault Fault, answers chan<- reply) {
	batch := make([]driver.Hold, len(at))
	for j, i := range at {
		batch[j] = hs[i]
	}
	go func() {
		as, err := carry(ctx, f, fault, func(ctx context.Context) ([]reply, error) {
			return renewAll(ctx, f.inner, batch), nil
		})
		for j, i := range at {
			a := reply{i: i, err: err}
			if err == nil {
				a.v, a.err = as[j].v, as[j].err
			}
			answers <- a
		}
	}()
}

// errUnreported stands for the answer that a store did not give.
var errUnreported = errors.New("Renew returned without calling done")

// renewAll collects the answers to one Renew, in the order of hs.
func renewAll(ctx context.Context, s driver.Store, hs []driver.Hold) []reply {
	var mu sync.Mutex // guards as
	as := make([]reply, len(hs))
	for i := range as {
		as[i] = reply{i: i, err: errUnreported}
	}
	s.Renew(ctx, hs, func(i int, v driver.Validity, err error) {
		mu.Lock()
		defer mu.Unlock()
		as[i] = reply{i, v, err}
	})
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone(as)
}
