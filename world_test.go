package holdfast_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/store/memstore"
)

// world is one server in a bubble of virtual time, and the clients that a test
// opens on it. Everything is closed, and the bubble checked for leftovers, at
// the end.
type world struct {
	*testing.T
	srv *memstore.Server
}

// client is a Client, the network between it and the server, and what its
// observer heard.
type client struct {
	*holdfast.Client
	net    *drivertest.Faulty
	events *events
}

// inBubble runs f in virtual time.
func inBubble(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(&world{T: t, srv: memstore.NewServer()})
	})
}

// open returns a new client of the world's server.
func (w *world) open(o *holdfast.Options) *client {
	w.Helper()
	return w.openOn(w.srv.Store(), o)
}

// openOn returns a new client of another store.
func (w *world) openOn(s driver.Store, o *holdfast.Options) *client {
	w.Helper()
	var opts holdfast.Options
	if o != nil {
		opts = *o
	}
	c := &client{net: drivertest.NewFaulty(s), events: &events{}}
	opts.Observer = c.events.observe
	hc, err := holdfast.New(c.net, &opts)
	if err != nil {
		w.Fatal(err)
	}
	c.Client = hc
	w.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			w.Errorf("close: %v", err)
		}
	})
	return c
}

// lock takes name or fails the test.
func (w *world) lock(c *client, name string, o *holdfast.MutexOptions) *holdfast.Lease {
	w.Helper()
	l, err := c.Mutex(name, o).Lock(context.Background())
	if err != nil {
		w.Fatalf("lock %q: %v", name, err)
	}
	return l
}

// unlock gives l up or fails the test.
func (w *world) unlock(l *holdfast.Lease) {
	w.Helper()
	if err := l.Unlock(); err != nil {
		w.Fatalf("unlock %q: %v", l.Name(), err)
	}
}

// free reports whether name can be taken by somebody else now.
func (w *world) free(name string) bool {
	w.Helper()
	s := w.srv.Store()
	defer s.Close(context.Background())
	g, err := s.Try(context.Background(), driver.Request{
		Name: name, Kind: driver.Mutex, Owner: "probe:1", TTL: time.Minute, NotAfter: time.Now().Add(time.Minute),
	})
	if err != nil {
		return false
	}
	if _, err := s.Release(context.Background(), g.Hold); err != nil {
		w.Fatal(err)
	}
	return true
}

// goroutines counts those of this bubble alone; runtime.NumGoroutine would also
// count others of the process that are about to end.
func (w *world) goroutines() int {
	w.Helper()
	stacks := allStacks()
	_, bubble, ok := bytes.Cut(stacks, []byte("synctest bubble "))
	if !ok {
		w.Fatal("not in a bubble")
	}
	end := bytes.IndexAny(bubble, ",]")
	mark := append([]byte("synctest bubble "), bubble[:end]...)
	return bytes.Count(stacks, append(mark, ']')) + bytes.Count(stacks, append(mark, ','))
}

func allStacks() []byte {
	for size := 1 << 16; ; size *= 4 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size {
			return buf[:n]
		}
	}
}

// is fails the test unless err matches all targets.
func (w *world) is(err error, targets ...error) {
	w.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			w.Errorf("error %q does not match %q", err, target)
		}
	}
}

// events collects what an observer hears.
type events struct {
	mu  sync.Mutex
	all []holdfast.Event
}

func (e *events) observe(_ context.Context, ev holdfast.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, ev)
}

// of returns the events of one kind so far.
func (e *events) of(kind holdfast.EventKind) []holdfast.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	var r []holdfast.Event
	for _, ev := range e.all {
		if ev.Kind == kind {
			r = append(r, ev)
		}
	}
	return r
}

// calls returns the calls of a method that c's store saw.
func (c *client) calls(m drivertest.Method) []drivertest.Call {
	var r []drivertest.Call
	for _, call := range c.net.Calls() {
		if call.Method == m {
			r = append(r, call)
		}
	}
	return r
}
