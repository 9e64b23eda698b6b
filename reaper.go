package holdfast

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// reaper gives back what the store granted, or may have granted, to nobody: an
// attempt whose caller left, a release without an answer. One goroutine watches
// over all of it, and each entry is forgotten at the latest when its TTL has
// ended the hold anyway, so that a dead store cannot make the set grow for ever.
type reaper struct {
	c      *Client
	agenda *agenda[*giveBack]
	left   gauge // entries not finished

	mu      sync.Mutex  // guards the following
	closing time.Time   // since when the client closes; zero: it does not
	calls   int         // under way
	backlog []*giveBack // due while all calls were taken
}

// giveBack is one owner to release. Only the reaper touches it after add.
type giveBack struct {
	entry     entry[*giveBack]
	d         driver.Hold
	values    context.Context
	again     time.Time             // a copy of an acquire may arrive until then
	until     time.Time             // then the TTL has ended it
	rest      time.Time             // AtLeast keeps the name taken until then
	confirmed func(driver.Released) // told once, or nil
	failures  int
}

// reaperRequests is how many releases the reaper has under way at most.
const reaperRequests = 8

func newReaper(c *Client) *reaper {
	r := &reaper{c: c}
	r.agenda = newAgenda(clock{}, c.start, r.due)
	return r
}

// newGiveBack releases d from the given time on, until the store confirms it
// after again, at the latest until the time until.
func newGiveBack(d driver.Hold, values context.Context, from, again, until time.Time, confirmed func(driver.Released)) *giveBack {
	g := &giveBack{d: d, values: values, again: again, until: until, confirmed: confirmed}
	if past := again.Add(d.TTL); past.After(until) && !again.IsZero() {
		g.until = past
	}
	g.entry = entry[*giveBack]{at: from, value: g}
	return g
}

func (r *reaper) add(g *giveBack) {
	r.left.add(1)
	r.agenda.set(&g.entry, g.entry.at, 0)
}

// due starts a release for each entry, as far as calls are free. The others wait
// for their turn.
func (r *reaper) due(gs []*giveBack) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.backlog = append(r.backlog, gs...)
	for len(r.backlog) > 0 && r.calls < reaperRequests {
		r.call(r.take())
	}
	for now := time.Now(); len(r.backlog) > 0 && !now.Before(r.backlog[0].until); {
		r.take()
		r.left.add(-1) // its TTL was faster than its turn
	}
}

func (r *reaper) take() *giveBack {
	g := r.backlog[0]
	r.backlog[0], r.backlog = nil, r.backlog[1:]
	return g
}

func (r *reaper) call(g *giveBack) {
	r.calls++
	started := r.c.start(func(context.Context) {
		r.try(g)
		r.mu.Lock()
		r.calls--
		r.mu.Unlock()
		r.due(nil)
	})
	if !started {
		r.calls--
		r.left.add(-1)
	}
}

// try sends one release and decides what becomes of the entry.
func (r *reaper) try(g *giveBack) {
	sent := time.Now()
	ctx, cancel := context.WithTimeout(g.values, min(r.c.timeout, max(g.d.TTL/3, time.Millisecond)))
	d := g.d
	d.Rest = max(0, g.rest.Sub(sent))
	released, err := r.c.store.Release(ctx, d)
	cancel()
	now := time.Now()
	switch {
	case err == nil && sent.Before(g.again):
		r.tell(g, released)
		r.agenda.set(&g.entry, g.again, 0)
	case err == nil:
		r.tell(g, released)
		r.left.add(-1)
	case !now.Before(g.until), r.givesUp(g, now):
		r.left.add(-1)
	default:
		g.failures++
		r.agenda.set(&g.entry, earlier(now.Add(backoff(g.failures)), g.until), 0)
	}
}

func (r *reaper) tell(g *giveBack, released driver.Released) {
	if g.confirmed != nil {
		g.confirmed(released)
		g.confirmed = nil
		return
	}
	if released.Freed {
		r.c.tell(g.values, Event{Kind: GivenBack, Name: g.d.Name, Owner: shortOwner(g.d.Owner), Token: g.d.Token})
	}
}

// drain waits until nothing is left to give back, or ctx ends. From when an entry
// could end it bears with a silent store for the time of one request; then it
// leaves the rest to the TTL.
func (r *reaper) drain(ctx context.Context) error {
	r.mu.Lock()
	r.closing = time.Now()
	r.mu.Unlock()
	return r.left.wait(ctx)
}

func (r *reaper) givesUp(g *giveBack, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	patience := now.Add(-r.c.timeout)
	return !r.closing.IsZero() && !patience.Before(r.closing) && !patience.Before(g.again)
}
