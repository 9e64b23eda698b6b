//go:build unix

package cases_test

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// client is a Client, the network between it and the place, and what its
// observer heard.
type client struct {
	*holdfast.Client
	w     *world
	net   *drivertest.Faulty
	heard *heard

	mu     sync.Mutex // guards leases
	leases []*holdfast.Lease
}

// stranger returns a client that never talked to its store.
func (w *world) stranger() *client { return w.labelled("") }

// labelled returns a stranger with a label.
func (w *world) labelled(label string) *client {
	w.Helper()
	c := &client{w: w, net: drivertest.NewFaulty(w.place()), heard: &heard{}}
	var err error
	c.Client, err = holdfast.New(c.net, &holdfast.Options{
		Label: label, Observer: c.heard.observe,
	})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(c.end)
	return c
}

// client returns a client that has talked to its store.
func (w *world) client() *client {
	w.Helper()
	c := w.stranger()
	if err := c.Do(context.Background(), "hello "+c.ID(), func(context.Context, *holdfast.Lease) error { return nil }); err != nil {
		w.Fatal(err)
	}
	c.net.Forget()
	c.heard.forget()
	return c
}

// end gives everything back, so that the next case finds nothing of this one.
func (c *client) end() {
	c.net.Plan(nil)
	c.net.Thaw()
	c.net.Heal()
	c.mu.Lock()
	leases := c.leases
	c.mu.Unlock()
	for _, l := range leases {
		_ = l.Unlock()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.Close(ctx)
}

// keep has l unlocked at the end of the case.
func (c *client) keep(l *holdfast.Lease) *holdfast.Lease {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l != nil {
		c.leases = append(c.leases, l)
	}
	return l
}

// lock takes name within a minute or fails the case.
func (c *client) lock(name string, o *holdfast.MutexOptions) *holdfast.Lease {
	c.w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), c.w.s(60)+c.w.slack)
	defer cancel()
	l, err := c.Mutex(name, o).Lock(ctx)
	if err != nil {
		c.w.Fatalf("lock %q: %v", name, err)
	}
	return c.keep(l)
}

// refused fails the case unless name is held by somebody else.
func (c *client) refused(name string) {
	c.w.Helper()
	l, err := c.Mutex(name, nil).TryLock(context.Background())
	c.w.is(err, holdfast.ErrHeld)
	c.keep(l)
}

// unlock gives l up or fails the case.
func (w *world) unlock(l *holdfast.Lease) {
	w.Helper()
	if err := l.Unlock(); err != nil {
		w.Fatalf("unlock %q: %v", l.Name(), err)
	}
}

// ttl is options with a TTL of n seconds of the case.
func (w *world) ttl(n float64) *holdfast.MutexOptions {
	return &holdfast.MutexOptions{TTL: w.s(n)}
}

// fixed is ttl without renewal.
func (w *world) fixed(n float64) *holdfast.MutexOptions {
	return &holdfast.MutexOptions{TTL: w.s(n), NoRenew: true}
}

// within is options with a TTL and a wait that must be enough, in seconds of the
// case.
func (w *world) within(ttl, wait float64) *holdfast.MutexOptions {
	return &holdfast.MutexOptions{TTL: w.s(ttl), Wait: w.s(wait) + w.slack}
}

// upTo is within for a wait that must end.
func (w *world) upTo(ttl, wait float64) *holdfast.MutexOptions {
	return &holdfast.MutexOptions{TTL: w.s(ttl), Wait: w.s(wait)}
}

// pending is a call of Lock under way.
type pending struct {
	w     *world
	done  chan struct{} // closed when the following are set
	lease *holdfast.Lease
	err   error
	at    time.Time
}

// begin calls Lock in the background.
func (c *client) begin(ctx context.Context, name string, o *holdfast.MutexOptions) *pending {
	p := &pending{w: c.w, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.lease, p.err = c.Mutex(name, o).Lock(ctx)
		p.at = time.Now()
		c.keep(p.lease)
	}()
	return p
}

// queue is begin, and returns when the call waits in the store.
func (c *client) queue(ctx context.Context, name string, o *holdfast.MutexOptions) *pending {
	c.w.Helper()
	waits := len(c.net.Calls(drivertest.Wait))
	p := c.begin(ctx, name, o)
	c.w.soon(c.w.s(1), "the call waits in the store", func() bool {
		return len(c.net.Calls(drivertest.Wait)) > waits
	})
	return p
}

// end waits at most d for the call to return.
func (p *pending) end(d time.Duration) (*holdfast.Lease, error) {
	p.w.Helper()
	select {
	case <-p.done:
	case <-time.After(d + p.w.slack):
		p.w.Fatalf("Lock did not return within %v", d)
	}
	return p.lease, p.err
}

// gets waits at most d for the lock.
func (p *pending) gets(d time.Duration) *holdfast.Lease {
	p.w.Helper()
	l, err := p.end(d)
	if err != nil {
		p.w.Fatalf("lock: %v", err)
	}
	return l
}

// ended waits at most d for the end of l, and returns when that was and why.
func (w *world) ended(l *holdfast.Lease, d time.Duration) (time.Time, error) {
	w.Helper()
	select {
	case <-l.Context().Done():
	case <-time.After(d + w.slack):
		w.Fatalf("the lease of %q has not ended within %v", l.Name(), d)
	}
	return time.Now(), context.Cause(l.Context())
}

// owner is the owner id under which the store knows l.
func (w *world) owner(name string) string {
	w.Helper()
	return w.hold(name, 0).Owner
}

// heard is what an observer heard.
type heard struct {
	mu     sync.Mutex // guards events
	events []holdfast.Event
}

func (h *heard) observe(_ context.Context, e holdfast.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

func (h *heard) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = nil
}

// count is how often an event of that kind was heard.
func (h *heard) count(kind holdfast.EventKind) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, e := range h.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}
