package drivertest_test

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/holdfast-go/holdfast/driver"
)

// full is what the memory store implements.
type full interface {
	driver.Store
	driver.Inspector
	driver.Breaker
	driver.Host
}

// altered is a store of which some methods are replaced.
type altered struct {
	full
	place   *atomic.Int64 // shared by the clients of a place
	try     func(ctx context.Context, r driver.Request) (driver.Grant, error)
	wait    func(ctx context.Context, r driver.Request, b *driver.Busy) error
	renew   func(ctx context.Context, h driver.Hold) (driver.Validity, error)
	renews  func(ctx context.Context, hs []driver.Hold, done func(int, driver.Validity, error))
	release func(ctx context.Context, h driver.Hold) (driver.Released, error)
	brk     func(ctx context.Context, name, owner string, token int64, now bool) error
	inspect func(ctx context.Context, name string) ([]driver.Holding, error)
	profile func() driver.Profile
	closes  func(ctx context.Context) error
}

func (s *altered) Try(ctx context.Context, r driver.Request) (driver.Grant, error) {
	if s.try != nil {
		return s.try(ctx, r)
	}
	return s.full.Try(ctx, r)
}

func (s *altered) Wait(ctx context.Context, r driver.Request, b *driver.Busy) error {
	if s.wait != nil {
		return s.wait(ctx, r, b)
	}
	return s.full.Wait(ctx, r, b)
}

func (s *altered) Renew(ctx context.Context, hs []driver.Hold, done func(int, driver.Validity, error)) {
	switch {
	case s.renews != nil:
		s.renews(ctx, hs, done)
	case s.renew != nil:
		for i, h := range hs {
			v, err := s.renew(ctx, h)
			done(i, v, err)
		}
	default:
		s.full.Renew(ctx, hs, done)
	}
}

func (s *altered) Release(ctx context.Context, h driver.Hold) (driver.Released, error) {
	if s.release != nil {
		return s.release(ctx, h)
	}
	return s.full.Release(ctx, h)
}

func (s *altered) Break(ctx context.Context, name, owner string, token int64, now bool) error {
	if s.brk != nil {
		return s.brk(ctx, name, owner, token, now)
	}
	return s.full.Break(ctx, name, owner, token, now)
}

func (s *altered) Inspect(ctx context.Context, name string) ([]driver.Holding, error) {
	if s.inspect != nil {
		return s.inspect(ctx, name)
	}
	return s.full.Inspect(ctx, name)
}

func (s *altered) Profile() driver.Profile {
	if s.profile != nil {
		return s.profile()
	}
	return s.full.Profile()
}

func (s *altered) Close(ctx context.Context) error {
	if s.closes != nil {
		return s.closes(ctx)
	}
	return s.full.Close(ctx)
}

// The sound parts that alterations are made of.

// holding returns who holds name, or the zero Holding.
func (s *altered) holding(ctx context.Context, name string) driver.Holding {
	hs, err := s.full.Inspect(ctx, name)
	if err != nil || len(hs) == 0 {
		return driver.Holding{}
	}
	return hs[0]
}

// renewOne is the store's own Renew of one hold.
func (s *altered) renewOne(ctx context.Context, h driver.Hold) (v driver.Validity, err error) {
	s.full.Renew(ctx, []driver.Hold{h}, func(_ int, w driver.Validity, e error) { v, err = w, e })
	return v, err
}

// retake makes h's owner take the name anew.
func (s *altered) retake(ctx context.Context, h driver.Hold) (driver.Validity, error) {
	g, err := s.full.Try(ctx, driver.Request{Name: h.Name, Kind: h.Kind, Owner: h.Owner, TTL: h.TTL})
	if err != nil {
		return driver.Validity{}, driver.ErrGone
	}
	return g.Validity, nil
}

// granted alters the grants of Try.
func (s *altered) granted(alter func(r driver.Request, g *driver.Grant)) {
	s.try = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
		g, err := s.full.Try(ctx, r)
		if err == nil {
			alter(r, &g)
		}
		return g, err
	}
}

// busied alters the refusals of Try.
func (s *altered) busied(alter func(b *driver.Busy)) {
	s.try = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
		g, err := s.full.Try(ctx, r)
		var b *driver.Busy
		if errors.As(err, &b) {
			alter(b)
		}
		return g, err
	}
}

// asked alters the requests of Try.
func (s *altered) asked(alter func(r *driver.Request)) {
	s.try = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
		alter(&r)
		return s.full.Try(ctx, r)
	}
}

// released alters the holds of Release.
func (s *altered) released(alter func(h *driver.Hold)) {
	s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
		alter(&h)
		return s.full.Release(ctx, h)
	}
}

// inspected alters the holdings of Inspect.
func (s *altered) inspected(alter func(h *driver.Holding)) {
	s.inspect = func(ctx context.Context, name string) ([]driver.Holding, error) {
		hs, err := s.full.Inspect(ctx, name)
		for i := range hs {
			alter(&hs[i])
		}
		return hs, err
	}
}

// named maps the names of all requests.
func (s *altered) named(to func(string) string) {
	s.asked(func(r *driver.Request) { r.Name = to(r.Name) })
	s.released(func(h *driver.Hold) { h.Name = to(h.Name) })
}
