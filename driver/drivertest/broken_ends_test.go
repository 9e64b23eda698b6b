package drivertest_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// brokenEnds are stores that rest, break or show holds wrongly.
var brokenEnds = map[string]fault{
	"ignores Rest": {"resting/keeps", func(s *altered) { s.released(func(h *driver.Hold) { h.Rest = 0 }) }},
	"rests too long": {"resting/ends", func(s *altered) {
		s.released(func(h *driver.Hold) {
			if h.Rest > 0 {
				h.Rest += time.Second
			}
		})
	}},
	"rests no longer than the TTL": {"resting/rest-counts", func(s *altered) {
		s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
			if now := s.holding(ctx, h.Name); now.Owner == h.Owner {
				h.Rest = min(h.Rest, now.Left)
			}
			return s.full.Release(ctx, h)
		}
	}},
	"rests no shorter than the TTL": {"resting/rest-counts", func(s *altered) {
		s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
			if now := s.holding(ctx, h.Name); now.Owner == h.Owner && h.Rest > 0 {
				h.Rest = max(h.Rest, now.Left)
			}
			return s.full.Release(ctx, h)
		}
	}},
	"rests as a live hold": {"resting/renew", func(s *altered) {
		s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
			if h.Rest > 0 && s.holding(ctx, h.Name).Owner == h.Owner {
				return driver.Released{Freed: true}, nil
			}
			return s.full.Release(ctx, h)
		}
	}},
	"a second Release removes a tombstone": {"resting/release retries/rest", func(s *altered) {
		s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
			if now := s.holding(ctx, h.Name); now.Resting && now.Owner == h.Owner {
				_ = s.full.Break(ctx, h.Name, now.Owner, now.Token, true)
			}
			return s.full.Release(ctx, h)
		}
	}},

	"Break compares nothing": {"breaking/compares breaking/late retries/break-now", func(s *altered) {
		s.brk = func(ctx context.Context, name, _ string, _ int64, now bool) error {
			h := s.holding(ctx, name)
			return s.full.Break(ctx, name, h.Owner, h.Token, now)
		}
	}},
	"Break compares owners only": {"breaking/compares", func(s *altered) {
		s.brk = func(ctx context.Context, name, owner string, _ int64, now bool) error {
			return s.full.Break(ctx, name, owner, s.holding(ctx, name).Token, now)
		}
	}},
	"Break always says that it acted": {"breaking/nothing breaking/late", func(s *altered) {
		s.brk = func(ctx context.Context, name, owner string, token int64, now bool) error {
			_ = s.full.Break(ctx, name, owner, token, now)
			return nil
		}
	}},
	"Break of a revoked hold does nothing": {"breaking/revoked-now", func(s *altered) {
		s.brk = func(ctx context.Context, name, owner string, token int64, now bool) error {
			if h := s.holding(ctx, name); h.Revoked && h.Owner == owner {
				return nil
			}
			return s.full.Break(ctx, name, owner, token, now)
		}
	}},
	"Break gives the hold a new TTL": {"breaking/ttl breaking/revokes", func(s *altered) {
		s.brk = func(ctx context.Context, name, owner string, token int64, now bool) error {
			_, _ = s.renewOne(ctx, driver.Hold{Name: name, Owner: owner, TTL: time.Minute})
			return s.full.Break(ctx, name, owner, token, now)
		}
	}},
	"Break frees at once": {"breaking/revokes", func(s *altered) {
		s.brk = func(ctx context.Context, name, owner string, token int64, _ bool) error {
			return s.full.Break(ctx, name, owner, token, true)
		}
	}},
	"Break now only revokes": {"breaking/now", func(s *altered) {
		s.brk = func(ctx context.Context, name, owner string, token int64, _ bool) error {
			return s.full.Break(ctx, name, owner, token, false)
		}
	}},
	"Break is not told": {"breaking/revokes", func(s *altered) {
		s.renew = func(ctx context.Context, h driver.Hold) (driver.Validity, error) {
			v, err := s.renewOne(ctx, h)
			if errors.Is(err, driver.ErrRevoked) {
				err = driver.ErrGone
			}
			return v, err
		}
	}},
	"Release of a revoked hold does nothing": {"breaking/release breaking/rest", func(s *altered) {
		s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
			if s.holding(ctx, h.Name).Revoked {
				return driver.Released{}, nil
			}
			return s.full.Release(ctx, h)
		}
	}},
	"Try undoes a Break": {"breaking/try retries/break", func(s *altered) {
		s.try = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			if h := s.holding(ctx, r.Name); h.Revoked && h.Owner == r.Owner {
				_ = s.full.Break(ctx, r.Name, h.Owner, h.Token, true)
			}
			return s.full.Try(ctx, r)
		}
	}},

	"Inspect shows wrong tokens": {"inspection/hold", func(s *altered) {
		s.inspected(func(h *driver.Holding) { h.Token++ })
	}},
	"Inspect shows the full TTL": {"inspection/time", func(s *altered) {
		s.inspected(func(h *driver.Holding) { h.Left = time.Minute })
	}},
	"Inspect shows now for Since": {"inspection/time", func(s *altered) {
		s.inspected(func(h *driver.Holding) { h.Since = time.Now() })
	}},
	"Inspect shows the asking client": {"inspection/client", func(s *altered) {
		s.inspected(func(h *driver.Holding) { h.Client.ID = "me" })
	}},
	"Inspect hides that a hold is revoked": {"inspection/break", func(s *altered) {
		s.inspected(func(h *driver.Holding) { h.Revoked = false })
	}},
	"Inspect shows the dead": {"inspection/live", func(s *altered) {
		s.inspect = func(ctx context.Context, name string) ([]driver.Holding, error) {
			hs, err := s.full.Inspect(ctx, name)
			if err == nil && len(hs) == 0 {
				hs = []driver.Holding{{Name: name}}
			}
			return hs, err
		}
	}},
	"Inspect has no order": {"inspection/all", func(s *altered) {
		s.inspect = func(ctx context.Context, name string) ([]driver.Holding, error) {
			hs, err := s.full.Inspect(ctx, name)
			slices.Reverse(hs)
			return hs, err
		}
	}},
	"Inspect hides tombstones": {"inspection/rest", func(s *altered) {
		s.inspect = func(ctx context.Context, name string) ([]driver.Holding, error) {
			hs, err := s.full.Inspect(ctx, name)
			return slices.DeleteFunc(hs, func(h driver.Holding) bool { return h.Resting }), err
		}
	}},
	"Inspect counts no waiters": {"inspection/waiters", func(s *altered) {
		s.inspected(func(h *driver.Holding) { h.Waiters = 0 })
	}},
}
