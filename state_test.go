package holdfast_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"pgregory.net/rapid"
)

// step is one thing that happens to two clients and one name.
type step struct {
	Do  string
	Who int
	For time.Duration
}

func (s step) String() string { return fmt.Sprintf("%s %d %v", s.Do, s.Who, s.For) }

var steps = rapid.Custom(func(t *rapid.T) step {
	return step{
		Do: rapid.SampledFrom([]string{
			"lock", "lock", "unlock", "unlock", "extend", "sleep", "sleep", "sleep",
			"lose", "revoke", "cut", "heal", "heal", "lose reply", "delay",
		}).Draw(t, "do"),
		Who: rapid.IntRange(0, 1).Draw(t, "who"),
		For: time.Duration(rapid.IntRange(0, 40).Draw(t, "for")) * 250 * time.Millisecond,
	}
})

// Whatever happens in whatever order: a lease that says it is held is held in the
// store, longer than its own deadline by the margin, and by nobody else; tokens
// grow; and in the end nothing is left.
func TestAnyOrder(t *testing.T) {
	fewChecks(t, "200")
	rapid.Check(t, func(rt *rapid.T) {
		all := rapid.SliceOfN(steps, 1, 60).Draw(rt, "steps")
		var wrong string
		inBubble(t, func(w *world) { wrong = play(w, all) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// fewChecks lowers the number of checks where nobody asked for another.
func fewChecks(t *testing.T, checks string) {
	t.Helper()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "rapid.checks" })
	if asked {
		return
	}
	if err := flag.Set("rapid.checks", checks); err != nil {
		t.Fatal(err)
	}
}

// game is the state of the world as the rules see it.
type game struct {
	*world
	start   time.Time
	clients [2]*client
	copies  [2]bool // of the client's requests may arrive late
	leases  []*played
	token   int64          // of the latest grant
	lost    map[int64]bool // tokens whose hold the store forgot
}

// played is a lease that was granted.
type played struct {
	*holdfast.Lease
	by       int
	asked    bool // to unlock
	unlocked bool
}

// play takes the steps and returns the first rule that was broken.
func play(w *world, all []step) string {
	g := &game{
		world: w, start: time.Now(), lost: map[int64]bool{},
		clients: [2]*client{w.open(nil), w.open(nil)},
	}
	for i, s := range all {
		if err := g.take(s); err != nil {
			return fmt.Sprintf("step %d, %v, at %v: %v", i, s, time.Since(g.start), err)
		}
		if err := g.rules(); err != nil {
			return fmt.Sprintf("after step %d, %v, at %v: %v", i, s, time.Since(g.start), err)
		}
	}
	if err := g.end(); err != nil {
		return fmt.Sprintf("at the end, at %v: %v", time.Since(g.start), err)
	}
	return ""
}

func (g *game) take(s step) error {
	c := g.clients[s.Who]
	switch s.Do {
	case "lock":
		return g.lock(s.Who)
	case "unlock":
		return g.unlock(s.Who)
	case "extend":
		if l := g.latest(s.Who); l != nil {
			asked := time.Now()
			err := l.Extend(context.Background(), s.For+1)
			if got := l.Deadline().Sub(asked); err == nil && got <= s.For {
				return fmt.Errorf("extended by %v to %v", s.For, got)
			}
		}
	case "sleep":
		time.Sleep(s.For)
	case "lose":
		g.lose()
	case "revoke":
		if h := g.holding(); h != nil {
			return g.srv.Store().(driver.Breaker).Break(context.Background(), "k", h.Owner, h.Token, false)
		}
	case "cut":
		c.net.Partition(driver.ErrUnknown)
	case "heal":
		c.net.Heal()
		c.net.Plan(nil)
	case "lose reply":
		g.copies[s.Who] = true
		c.net.Next(drivertest.Try, lostReply(s.For))
		c.net.Next(drivertest.Renew, lostReply(s.For))
		c.net.Next(drivertest.Release, lostReply(s.For))
	case "delay":
		c.net.Plan(func(drivertest.Call) drivertest.Fault { return drivertest.Fault{Before: s.For / 8, After: s.For / 8} })
	}
	return nil
}

func (g *game) lock(who int) error {
	ctx, cancel := context.WithTimeout(context.Background(), 12*time.Second)
	defer cancel()
	l, err := g.clients[who].Mutex("k", nine).Lock(ctx)
	if err != nil {
		if !errors.Is(err, holdfast.ErrHeld) && !errors.Is(err, holdfast.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("lock: %w", err)
		}
		return nil
	}
	if l.Token() <= g.token && !g.lost[l.Token()] { // forgotten while its grant was on the way
		return fmt.Errorf("token %d after %d", l.Token(), g.token)
	}
	g.token = max(g.token, l.Token())
	g.leases = append(g.leases, &played{Lease: l, by: who})
	return nil
}

func (g *game) unlock(who int) error {
	l := g.latest(who)
	if l == nil {
		return nil
	}
	// A late copy of its own acquire may have put back what the store forgot, and
	// a repeated Unlock may be told that nobody entered.
	excused := g.copies[who] || l.asked
	held := l.Check()
	err := l.Unlock()
	l.asked = true
	l.unlocked = !errors.Is(err, holdfast.ErrUnavailable)
	switch {
	case err == nil && g.lost[l.Token()] && !excused:
		return errors.New("unlock of a hold that the store forgot: no error")
	case errors.Is(held, holdfast.ErrLost) && !errors.Is(err, holdfast.ErrLost):
		return fmt.Errorf("unlock after %w: %w", held, err)
	case errors.Is(err, holdfast.ErrLost) && held == nil && !g.lost[l.Token()]:
		return fmt.Errorf("unlock of a good hold: %w", err)
	case err == nil:
		if h := g.holding(); h != nil && h.Token == l.Token() {
			return errors.New("held after a confirmed unlock")
		}
	}
	return nil
}

func (g *game) latest(who int) *played {
	for i := len(g.leases) - 1; i >= 0; i-- {
		if l := g.leases[i]; l.by == who && !l.unlocked {
			return l
		}
	}
	return nil
}

// holding is the truth: what the store has.
func (g *game) holding() *driver.Holding {
	hs, err := g.srv.Store().(driver.Inspector).Inspect(context.Background(), "k")
	if err != nil || len(hs) == 0 {
		return nil
	}
	return &hs[0]
}

func (g *game) lose() {
	h := g.holding()
	if h == nil {
		return
	}
	if _, err := g.srv.Store().Release(context.Background(), driver.Hold{Name: "k", Kind: h.Kind, Owner: h.Owner}); err != nil {
		g.Error(err)
	}
	g.lost[h.Token] = true // perhaps while its grant is still on the way
}

func (g *game) rules() error {
	synctest.Wait()
	h := g.holding()
	held := 0
	for _, l := range g.leases {
		if g.lost[l.Token()] || l.Check() != nil {
			continue
		}
		held++
		if h == nil || h.Token != l.Token() {
			return fmt.Errorf("token %d says it is held, the store has %+v", l.Token(), h)
		}
		const margin = ttl - lasts
		if left := time.Until(l.Deadline()); left+margin > h.Left {
			return fmt.Errorf("the lease lasts %v, the store's hold %v: the margin of %v is gone", left, h.Left, margin)
		}
	}
	if held > 1 {
		return fmt.Errorf("%d leases say they are held", held)
	}
	return nil
}

// end lets everything come to rest.
func (g *game) end() error {
	for who, c := range g.clients {
		c.net.Heal()
		c.net.Plan(nil)
		for l := g.latest(who); l != nil; l = g.latest(who) {
			if err := l.Unlock(); errors.Is(err, holdfast.ErrUnavailable) {
				time.Sleep(ttl)
			} else {
				l.unlocked = true
			}
		}
	}
	time.Sleep(time.Minute)
	synctest.Wait()
	if h := g.holding(); h != nil {
		return fmt.Errorf("the store has %+v", h)
	}
	for _, c := range g.clients {
		if c.Holds()+c.GiveBacks() > 0 {
			return fmt.Errorf("left: %d holds, %d give-backs", c.Holds(), c.GiveBacks())
		}
	}
	return nil
}
