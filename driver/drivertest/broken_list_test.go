package drivertest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// fault is what is wrong with a store, and the rule that shows it.
type fault struct {
	rule  string
	alter func(s *altered)
}

// broken are wrong stores by their fault.
var broken = map[string]fault{
	"profile has a weakness of its own": {"profile/weaknesses", func(s *altered) {
		s.profile = func() driver.Profile {
			p := s.full.Profile()
			p.Weak = append(p.Weak, "does not work on Mondays")
			return p
		}
	}},
	"declares NoBreak though it can": {"profile/break", func(s *altered) {
		s.profile = func() driver.Profile {
			p := s.full.Profile()
			p.Weak = append(p.Weak, driver.NoBreak)
			return p
		}
	}},
	"folds names to lower case": {"names/distinct", func(s *altered) { s.named(strings.ToLower) }},
	"trims names":               {"names/distinct", func(s *altered) { s.named(strings.TrimSpace) }},
	"cuts names": {"names/whole", func(s *altered) {
		s.named(func(name string) string { return name[:min(len(name), 1023)] })
	}},

	"two owners at once": {"exclusion/one-owner", func(s *altered) {
		s.try = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			if h := s.holding(ctx, r.Name); h.Owner != r.Owner && !h.Resting {
				_ = s.full.Break(ctx, r.Name, h.Owner, h.Token, true)
			}
			return s.full.Try(ctx, r)
		}
	}},
	"looks before it takes": {"exclusion/race", func(s *altered) {
		s.try = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			h := s.holding(ctx, r.Name)
			<-time.After(time.Millisecond)
			if now := s.holding(ctx, r.Name); h.Owner == "" && now.Owner != "" {
				return driver.Grant{Hold: driver.Hold{Name: r.Name, Kind: r.Kind, Owner: r.Owner, Token: now.Token}}, nil
			}
			return s.full.Try(ctx, r)
		}
	}},
	"Try blocks for the lock": {"exclusion/one-owner", func(s *altered) {
		s.try = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			for {
				g, err := s.full.Try(ctx, r)
				var b *driver.Busy
				if !errors.As(err, &b) || s.full.Wait(ctx, r, b) != nil {
					return g, err
				}
			}
		}
	}},
	"Busy names the asking owner": {"exclusion/busy", func(s *altered) {
		s.busied(func(b *driver.Busy) { b.Owner = "somebody" })
	}},
	"Busy.Left is half of what is left": {"expiry/left", func(s *altered) {
		s.busied(func(b *driver.Busy) { b.Left /= 2 })
	}},
	"Busy.Left does not shrink": {"expiry/left", func(s *altered) {
		s.busied(func(b *driver.Busy) { b.Left = 60 * time.Second })
	}},

	"expires early":  {"expiry/ends", func(s *altered) { s.asked(func(r *driver.Request) { r.TTL /= 2 }) }},
	"expires late":   {"expiry/ends", func(s *altered) { s.asked(func(r *driver.Request) { r.TTL += time.Second }) }},
	"Validity lies":  {"expiry/validity", func(s *altered) { s.granted(func(_ driver.Request, g *driver.Grant) { g.Validity.TTL += time.Second }) }},
	"Sent is a past": {"expiry/validity", func(s *altered) { s.granted(func(_ driver.Request, g *driver.Grant) { g.Validity.Sent = time.Time{} }) }},
	"Renew shortens": {"expiry/renew-keeps", func(s *altered) {
		s.renew = func(ctx context.Context, h driver.Hold) (driver.Validity, error) {
			if now := s.holding(ctx, h.Name); now.Owner == h.Owner && now.Left > h.TTL && !now.Resting {
				_, _ = s.full.Release(ctx, driver.Hold{Name: h.Name, Owner: h.Owner})
				return s.retake(ctx, h)
			}
			return s.renewOne(ctx, h)
		}
	}},
	"Renew does nothing": {"expiry/renew-raises", func(s *altered) {
		s.renew = func(ctx context.Context, h driver.Hold) (driver.Validity, error) {
			asked := h.TTL
			h.TTL = 1
			v, err := s.renewOne(ctx, h)
			v.TTL = max(v.TTL, asked)
			return v, err
		}
	}},
	"a repeated Try shortens": {"expiry/try-keeps", func(s *altered) {
		s.try = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			if now := s.holding(ctx, r.Name); now.Owner == r.Owner && now.Left > r.TTL && !now.Resting {
				_, _ = s.full.Release(ctx, driver.Hold{Name: r.Name, Owner: r.Owner})
			}
			return s.full.Try(ctx, r)
		}
	}},
	"a repeated Try does not raise": {"expiry/try-raises", func(s *altered) {
		s.try = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			if now := s.holding(ctx, r.Name); now.Owner == r.Owner {
				r.TTL = time.Millisecond
			}
			return s.full.Try(ctx, r)
		}
	}},
	"Renew brings a hold back": {"expiry/late-renew", func(s *altered) {
		s.renew = func(ctx context.Context, h driver.Hold) (driver.Validity, error) {
			if v, err := s.renewOne(ctx, h); !errors.Is(err, driver.ErrGone) {
				return v, err
			}
			return s.retake(ctx, h)
		}
	}},

	"Release asks for no owner": {"ownership/release", func(s *altered) {
		s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
			if now := s.holding(ctx, h.Name); !now.Resting && now.Owner != "" {
				h.Owner = now.Owner
			}
			return s.full.Release(ctx, h)
		}
	}},
	"Release compares tokens only": {"ownership/release", func(s *altered) {
		s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
			if now := s.holding(ctx, h.Name); !now.Resting && now.Token == h.Token {
				h.Owner = now.Owner
			}
			return s.full.Release(ctx, h)
		}
	}},
	"Release of the expired frees another's": {"expiry/late-release", func(s *altered) {
		s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
			if now := s.holding(ctx, h.Name); now.Token > h.Token && h.Token > 0 {
				_ = s.full.Break(ctx, h.Name, now.Owner, now.Token, true)
			}
			return s.full.Release(ctx, h)
		}
	}},
	"Renew asks for no owner": {"ownership/renew", func(s *altered) {
		s.renew = func(ctx context.Context, h driver.Hold) (driver.Validity, error) {
			if now := s.holding(ctx, h.Name); !now.Resting && now.Owner != "" {
				h.Owner = now.Owner
			}
			return s.renewOne(ctx, h)
		}
	}},
	"Release needs a token": {"ownership/release-unknown", func(s *altered) {
		s.released(func(h *driver.Hold) {
			if h.Token == 0 {
				h.Owner = "nobody"
			}
		})
	}},
	"Release always says Freed": {"ownership/release-answer", func(s *altered) {
		s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
			rel, err := s.full.Release(ctx, h)
			rel.Freed = true
			return rel, err
		}
	}},
	"Release answers its own token": {"ownership/release-answer", func(s *altered) {
		s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
			rel, err := s.full.Release(ctx, h)
			rel.Token = h.Token
			return rel, err
		}
	}},

	"one token for all": {"fencing/grows", func(s *altered) {
		s.granted(func(_ driver.Request, g *driver.Grant) { g.Hold.Token, g.First, g.Last = 7, 7, 7 })
	}},
	"tokens fall": {"fencing/grows", func(s *altered) {
		s.granted(func(_ driver.Request, g *driver.Grant) {
			g.First = 1_000_000 - g.First
			g.Hold.Token, g.Last = g.First, g.First
		})
	}},
	"tokens start anew after expiry": {"fencing/expiry", func(s *altered) {
		s.granted(func(r driver.Request, g *driver.Grant) {
			if r.TTL > time.Second {
				g.First, g.Last, g.Hold.Token = 1, 1, 1
			}
		})
	}},
	"ignores the floor": {"fencing/floor", func(s *altered) { s.asked(func(r *driver.Request) { r.Floor = 0 }) }},
	"the floor lasts one grant": {"fencing/floor", func(s *altered) {
		s.granted(func(r driver.Request, g *driver.Grant) {
			if r.Floor < 1_000_000 && g.First > 1_000_000 {
				g.First -= 1_000_000
				g.Hold.Token, g.Last = g.First, g.First
			}
		})
	}},
	"a repeated Try has a new token": {"fencing/same-owner", func(s *altered) {
		var n atomic.Int64
		s.granted(func(_ driver.Request, g *driver.Grant) {
			g.First = 1000*g.First + n.Add(1)
			g.Hold.Token, g.Last = g.First, g.First
		})
	}},
	"a repeated Try is Busy": {"fencing/same-owner", func(s *altered) {
		s.try = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			if h := s.holding(ctx, r.Name); h.Owner == r.Owner {
				return driver.Grant{}, &driver.Busy{Owner: h.Owner, Kind: h.Kind, Left: h.Left}
			}
			return s.full.Try(ctx, r)
		}
	}},
	"grants blocks unasked": {"fencing/block", func(s *altered) {
		s.granted(func(_ driver.Request, g *driver.Grant) { g.Last = g.First + 9 })
	}},

	"signals nothing": {"waiting/release", func(s *altered) {
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
	"does not wake at expiry": {"waiting/expiry", func(s *altered) {
		s.wait = func(ctx context.Context, r driver.Request, b *driver.Busy) error {
			if b.Left > time.Second {
				return s.full.Wait(ctx, r, b)
			}
			return pause(ctx, time.Hour)
		}
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

	"ignores Rest": {"resting/keeps", func(s *altered) { s.released(func(h *driver.Hold) { h.Rest = 0 }) }},
	"rests too long": {"resting/ends", func(s *altered) {
		s.released(func(h *driver.Hold) {
			if h.Rest > 0 {
				h.Rest += time.Second
			}
		})
	}},
	"rests as a live hold": {"resting/renew", func(s *altered) {
		s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
			if h.Rest > 0 && s.holding(ctx, h.Name).Owner == h.Owner {
				return driver.Released{Freed: true}, nil
			}
			return s.full.Release(ctx, h)
		}
	}},
	"a second Release removes a tombstone": {"resting/release", func(s *altered) {
		s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
			if now := s.holding(ctx, h.Name); now.Resting && now.Owner == h.Owner {
				_ = s.full.Break(ctx, h.Name, now.Owner, now.Token, true)
			}
			return s.full.Release(ctx, h)
		}
	}},

	"Break compares nothing": {"breaking/compares", func(s *altered) {
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
	"Release of a revoked hold does nothing": {"breaking/release", func(s *altered) {
		s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
			if s.holding(ctx, h.Name).Revoked {
				return driver.Released{}, nil
			}
			return s.full.Release(ctx, h)
		}
	}},
	"Try undoes a Break": {"breaking/try", func(s *altered) {
		s.try = func(ctx context.Context, r driver.Request) (driver.Grant, error) {
			if h := s.holding(ctx, r.Name); h.Revoked && h.Owner == r.Owner {
				_ = s.full.Break(ctx, r.Name, h.Owner, h.Token, true)
			}
			return s.full.Try(ctx, r)
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
		s.inspect = func(ctx context.Context, name string) ([]driver.Holding, error) {
			hs, err := s.full.Inspect(ctx, name)
			for i := range hs {
				hs[i].Waiters = 0
			}
			return hs, err
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
