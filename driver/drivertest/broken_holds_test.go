package drivertest_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// brokenHolds are stores that grant and keep holds wrongly.
var brokenHolds = map[string]fault{
	"profile has a weakness of its own": {"profile/weaknesses", func(s *altered) {
		s.profile = func() driver.Profile {
			p := s.full.Profile()
			p.Weak = append(p.Weak, "does not work on Mondays")
			return p
		}
	}},
	"profile has no unit": {"profile/complete", func(s *altered) {
		s.profile = func() driver.Profile {
			p := s.full.Profile()
			p.Unit = 0
			return p
		}
	}},
	"profile changes": {"profile/constant", func(s *altered) {
		s.profile = func() driver.Profile {
			p := s.full.Profile()
			p.MaxTTL = time.Hour + time.Duration(s.place.Add(1))
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

	"two owners at once": {"exclusion/one-owner exclusion/counter", func(s *altered) {
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
	"keeps a released name": {"exclusion/released", func(s *altered) {
		s.released(func(h *driver.Hold) { h.Rest = max(h.Rest, time.Second) })
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
	"Renew does nothing": {"expiry/renew-raises expiry/renewed", func(s *altered) {
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
	"Renew brings a hold back": {"expiry/late-renew ownership/renew-nothing", func(s *altered) {
		s.renew = func(ctx context.Context, h driver.Hold) (driver.Validity, error) {
			if v, err := s.renewOne(ctx, h); !errors.Is(err, driver.ErrGone) {
				return v, err
			}
			return s.retake(ctx, h)
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

	"Release asks for no owner": {"ownership/release ownership/release-late ownership/release-rest", func(s *altered) {
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
	"Release asks for no name": {"ownership/apart", func(s *altered) {
		s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
			all, _ := s.full.Inspect(ctx, "")
			for _, x := range all {
				if x.Owner == h.Owner {
					h.Name = x.Name
				}
			}
			return s.full.Release(ctx, h)
		}
	}},
	"Release of nothing rests": {"ownership/release-nothing", func(s *altered) {
		s.release = func(ctx context.Context, h driver.Hold) (driver.Released, error) {
			if s.holding(ctx, h.Name).Owner == "" && h.Rest > 0 {
				_, _ = s.retake(ctx, h)
				_, err := s.full.Release(ctx, h)
				return driver.Released{}, err
			}
			return s.full.Release(ctx, h)
		}
	}},
	"Renew asks for no owner": {"ownership/renew expiry/late-renew-retaken", func(s *altered) {
		s.renew = func(ctx context.Context, h driver.Hold) (driver.Validity, error) {
			if now := s.holding(ctx, h.Name); !now.Resting && now.Owner != "" {
				h.Owner = now.Owner
			}
			return s.renewOne(ctx, h)
		}
	}},
	"Release needs a token": {"ownership/release-unknown cancelling/midway", func(s *altered) {
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

	"one token for all": {"fencing/grows fencing/rest fencing/break", func(s *altered) {
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
}
