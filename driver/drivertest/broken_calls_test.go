package drivertest_test

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// brokenCalls are stores that wait, end calls, or treat copies of them wrongly.
var brokenCalls = map[string]fault{
	"signals nothing": {"waiting/release waiting/again waiting/break", func(s *altered) {
		s.wait = func(ctx context.Context, _ driver.Request, b *driver.Busy) error { return pause(ctx, b.Left) }
	}},
	"misses a release before Wait": {"waiting/missed", func(s *altered) {
		s.wait = func(ctx context.Context, r driver.Request, b *driver.Busy) error {
			if s.holding(ctx, r.Name).Owner == "" {
				return pause(ctx, b.Left)
			}
			return s.full.Wait(ctx, r, b)
		}
	}},
	"does not wake at expiry": {"waiting/expiry waiting/rest", func(s *altered) {
		s.wait = func(ctx context.Context, r driver.Request, b *driver.Busy) error {
			if b.Left > time.Second {
				return s.full.Wait(ctx, r, b)
			}
			return pause(ctx, time.Hour)
		}
	}},
	"wakes each client once": {"waiting/everybody waiting/again", func(s *altered) {
		var n atomic.Int64
		s.wait = func(ctx context.Context, r driver.Request, b *driver.Busy) error {
			if n.Add(1) > 1 {
				return pause(ctx, time.Hour)
			}
			return s.full.Wait(ctx, r, b)
		}
	}},
	"Wait counts Left from its start": {"waiting/expiry", func(s *altered) {
		s.wait = func(ctx context.Context, _ driver.Request, b *driver.Busy) error { return pause(ctx, b.Left) }
	}},
	"Wait does not wait": {"waiting/ctx waiting/idle", func(s *altered) {
		s.wait = func(ctx context.Context, _ driver.Request, _ *driver.Busy) error { return ctx.Err() }
	}},
	"Wait ignores its ctx": {"waiting/ctx", func(s *altered) {
		s.wait = func(ctx context.Context, r driver.Request, b *driver.Busy) error {
			return s.full.Wait(context.WithoutCancel(ctx), r, b)
		}
	}},
	"Wait hides the end of its ctx": {"waiting/ctx-ended", func(s *altered) {
		s.wait = func(ctx context.Context, r driver.Request, b *driver.Busy) error {
			if err := s.full.Wait(ctx, r, b); ctx.Err() == nil {
				return err
			}
			return nil
		}
	}},
	"leaves waiters behind": {"waiting/leaves-nothing", func(s *altered) {
		s.wait = func(ctx context.Context, r driver.Request, b *driver.Busy) error {
			err := s.full.Wait(ctx, r, b)
			if ctx.Err() != nil {
				s.place.Add(1)
			}
			return err
		}
		s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
			rel, err := s.full.Release(ctx, h)
			rel.Waiters += int(s.place.Load())
			return rel, err
		}
	}},
	"counts itself among the waiters": {"waiting/counted", func(s *altered) {
		s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
			rel, err := s.full.Release(ctx, h)
			rel.Waiters++
			return rel, err
		}
	}},

	"sends after its ctx ended": {"cancelling/ended", func(s *altered) {
		s.try = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			return s.full.Try(context.WithoutCancel(ctx), r)
		}
	}},
	"says unsent of a Try that was sent": {"cancelling/try-ended", func(s *altered) {
		s.try = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			g, err := s.full.Try(context.WithoutCancel(ctx), r)
			if ctx.Err() != nil {
				return driver.Grant{}, driver.ErrUnavailable
			}
			return g, err
		}
	}},
	"says unsent of what was sent": {"cancelling/release-ended", func(s *altered) {
		s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
			rel, err := s.full.Release(context.WithoutCancel(ctx), h)
			if ctx.Err() != nil {
				err = driver.ErrUnavailable
			}
			return rel, err
		}
	}},

	"Close leaves Wait": {"closing/wait", func(s *altered) {
		s.wait = func(ctx context.Context, r driver.Request, b *driver.Busy) error {
			err := s.full.Wait(ctx, r, b)
			if errors.Is(err, driver.ErrClosed) {
				return pause(ctx, time.Hour)
			}
			return err
		}
	}},
	"Close closes all clients": {"closing/others", func(s *altered) {
		s.wait = func(ctx context.Context, r driver.Request, b *driver.Busy) error {
			err := s.full.Wait(ctx, r, b)
			if s.place.Load() > 0 {
				return driver.ErrClosed
			}
			return err
		}
		s.closes = func(ctx context.Context) error {
			s.place.Add(1)
			return s.full.Close(ctx)
		}
	}},
	"Close closes nothing": {"closing/calls", func(s *altered) {
		s.closes = func(context.Context) error { return nil }
	}},
	"Close releases holds": {"closing/holds", func(s *altered) {
		var mine []driver.Hold
		s.granted(func(_ driver.Request, g *driver.Grant) { mine = append(mine, g.Hold) })
		s.closes = func(ctx context.Context) error {
			for _, h := range mine {
				_, _ = s.full.Release(ctx, h)
			}
			return s.full.Close(ctx)
		}
	}},

	"done twice": {"renewal/once", func(s *altered) {
		s.renews = func(ctx context.Context, hs []driver.Hold, done func(int, driver.Validity, error)) {
			s.full.Renew(ctx, hs, func(i int, v driver.Validity, err error) {
				done(i, v, err)
				done(i, v, err)
			})
		}
	}},
	"done never for what is gone": {"renewal/mixed", func(s *altered) {
		s.renews = func(ctx context.Context, hs []driver.Hold, done func(int, driver.Validity, error)) {
			s.full.Renew(ctx, hs, func(i int, v driver.Validity, err error) {
				if err == nil {
					done(i, v, err)
				}
			})
		}
	}},
	"done after Renew": {"renewal/once", func(s *altered) {
		s.renews = func(ctx context.Context, hs []driver.Hold, done func(int, driver.Validity, error)) {
			go func() {
				<-time.After(time.Millisecond)
				s.full.Renew(ctx, hs, done)
			}()
		}
	}},
	"one bad entry fails the batch": {"renewal/mixed", func(s *altered) {
		s.renews = func(ctx context.Context, hs []driver.Hold, done func(int, driver.Validity, error)) {
			var bad error
			for i, h := range hs {
				v, err := s.renewOne(ctx, h)
				bad = errors.Join(bad, err)
				done(i, v, bad)
			}
		}
	}},
	"refuses a second Renew at once": {"renewal/concurrent", func(s *altered) {
		s.renew = func(ctx context.Context, h driver.Hold) (driver.Validity, error) {
			defer s.place.Add(-1)
			if s.place.Add(1) > 1 {
				return driver.Validity{}, driver.ErrRefused
			}
			<-time.After(time.Millisecond)
			return s.renewOne(ctx, h)
		}
	}},
	"done for nothing": {"renewal/none", func(s *altered) {
		s.renews = func(ctx context.Context, hs []driver.Hold, done func(int, driver.Validity, error)) {
			s.full.Renew(ctx, hs, done)
			if len(hs) == 0 {
				done(0, driver.Validity{}, driver.ErrGone)
			}
		}
	}},
	"done under the store's lock": {"renewal/unlocked", func(s *altered) {
		lock := make(chan struct{}, 1)
		s.renews = func(ctx context.Context, hs []driver.Hold, done func(int, driver.Validity, error)) {
			lock <- struct{}{}
			defer func() { <-lock }()
			s.full.Renew(ctx, hs, done)
		}
		s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
			select {
			case lock <- struct{}{}:
				defer func() { <-lock }()
				return s.full.Release(ctx, h)
			case <-ctx.Done():
				return driver.Released{}, driver.ErrUnavailable
			}
		}
	}},

	"accepts a late Try": {"retries/too-late", func(s *altered) {
		s.asked(func(r *driver.Request) { r.NotAfter = time.Time{} })
	}},
	"accepts a copy of Try": {"retries/too-late-after-release", func(s *altered) {
		s.asked(func(r *driver.Request) {
			if time.Since(r.NotAfter) < 900*time.Millisecond {
				r.NotAfter = time.Time{}
			}
		})
	}},
	"a second Release releases the successor": {"retries/plain", func(s *altered) {
		seen := map[string]bool{}
		s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
			if now := s.holding(ctx, h.Name); seen[h.Owner] && now.Owner != "" {
				_ = s.full.Break(ctx, h.Name, now.Owner, now.Token, true)
			}
			seen[h.Owner] = true
			return s.full.Release(ctx, h)
		}
	}},
}

// pause is a Wait that nothing wakes.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
