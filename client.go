package holdfast

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Client takes locks in one store. It is safe for concurrent use; a process
// needs one for each store. Close it when done.
type Client struct {
	store    driver.Store
	profile  driver.Profile
	id       string
	timeout  time.Duration
	drift    float64
	observer func(context.Context, Event)
	clock    clock

	queues  *queues
	renewer *renewer
	reaper  *reaper

	contacted atomic.Bool  // the store has answered before
	highest   atomic.Int64 // token seen in this store

	background context.Context // ends when Close has nothing left to wait for
	stop       context.CancelFunc

	asking gauge // acquisitions under way
	live   gauge // holds neither released nor past their deadline

	mu      sync.Mutex // guards the following
	holds   map[*hold]struct{}
	closing bool // no new locks
	stopped bool // no new goroutines
	tasks   sync.WaitGroup
	closed  chan struct{} // closed when all is over
	err     error         // of Close; read after closed
}

// New returns a client for locks in s, or ErrInvalid for bad options. It sends
// nothing. Store packages call it; programs call a store package's New or Open.
func New(s driver.Store, o *Options) (*Client, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, wrap("new client", "", err)
	}
	c := &Client{
		store: s, profile: s.Profile(), id: newClientID(),
		timeout: opts.Timeout, drift: opts.Drift, observer: opts.Observer,
		holds: make(map[*hold]struct{}), closed: make(chan struct{}),
	}
	if c.profile.Clock != driver.SharedClock {
		c.clock.asleep = asleep
	}
	c.background, c.stop = context.WithCancel(context.Background())
	c.queues, c.renewer, c.reaper = newQueues(c), newRenewer(c), newReaper(c)
	if host, ok := s.(driver.Host); ok {
		host.Attach(c.info(opts.Label), c.notified)
	}
	return c, nil
}

// asleep measures suspends; tests put another source here.
var asleep = systemAsleep

func (c *Client) info(label string) driver.ClientInfo {
	host, _ := os.Hostname() // shown to people only; empty is fine
	return driver.ClientInfo{
		ID: c.id, Host: host, PID: os.Getpid(), Program: filepath.Base(os.Args[0]),
		Label: label, Started: time.Now(),
	}
}

// ID returns the UUID that starts all owner ids of this client.
func (c *Client) ID() string { return c.id }

// Store returns the name of the kind of store, such as "memory" or "sqlite".
func (c *Client) Store() string { return c.profile.Name }

// Inherit returns files that a child process should inherit, as the ExtraFiles
// of an exec.Cmd, to keep this client's locks after this process died: until the
// child ends, at the latest until their TTL. It returns nil where the store does
// not notice the death of processes. The files stay the client's.
func (c *Client) Inherit() []*os.File {
	if s, ok := c.store.(driver.Inheritor); ok {
		return s.Inherit()
	}
	return nil
}

// Ping asks the store for an answer, for the start of a program and for health
// checks; ctx bounds it. It returns nil where the store has nothing to ask, and
// an error such as ErrUnavailable or ErrRefused where no lock could be granted.
// Once the store has answered, Lock bears with its silence for a while
// (MutexOptions.Patience).
func (c *Client) Ping(ctx context.Context) error {
	s, ok := c.store.(driver.Pinger)
	if !ok {
		return nil
	}
	if err := s.Ping(ctx); err != nil {
		return wrap("ping the "+c.profile.Name+" store", "", join(ctx.Err(), fromStore(err)))
	}
	c.contacted.Store(true)
	return nil
}

// start runs f in a goroutine of the client, unless it has stopped. f's context
// ends when the client is closed.
func (c *Client) start(f func(context.Context)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return false
	}
	c.tasks.Go(func() { f(c.background) })
	return true
}

// ask is start for an acquisition, which Close waits for: it may have to give
// back what it is granted. None begins once Close has.
func (c *Client) ask(f func(context.Context)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return false
	}
	c.asking.add(1)
	c.tasks.Go(func() {
		defer c.asking.add(-1)
		f(c.background)
	})
	return true
}

// remember counts h among the holds that Close waits for, and lets the renewer
// look after it.
func (c *Client) remember(h *hold) {
	c.live.add(1)
	c.mu.Lock()
	c.holds[h] = struct{}{}
	closing := c.closing
	c.mu.Unlock()
	h.mu.Lock()
	c.renewer.schedule(h)
	h.mu.Unlock()
	if closing {
		h.end(ErrClosed) // tells nobody: there is no lease yet
	}
}

func (c *Client) forget(h *hold) {
	c.mu.Lock()
	_, ok := c.holds[h]
	delete(c.holds, h)
	c.mu.Unlock()
	if ok {
		c.live.add(-1)
	}
}

func (c *Client) isClosing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closing
}

// floorAhead is how far ahead of the clock a token may be and still count: one
// corrupt counter must not lift the tokens of every name.
const floorAhead = 10 * 365 * 24 * time.Hour

// raiseFloor notes a token of this store, so that later requests demand more.
func (c *Client) raiseFloor(token int64) {
	if token > time.Now().Add(floorAhead).UnixMicro() {
		return
	}
	for {
		old := c.highest.Load()
		if token <= old || c.highest.CompareAndSwap(old, token) {
			return
		}
	}
}

func (c *Client) floor() int64 { return c.highest.Load() }

// notified receives what the store tells unasked.
func (c *Client) notified(e driver.Event) {
	ctx := context.Background()
	switch e.Kind {
	case driver.SubscriptionUp:
		c.tell(ctx, Event{Kind: SubscriptionUp, Err: e.Err})
	case driver.SubscriptionDown:
		c.tell(ctx, Event{Kind: SubscriptionDown, Err: e.Err})
	case driver.Lost, driver.Revoked:
		cause := error(ErrRevoked)
		if e.Kind == driver.Lost {
			cause = join(ErrLost, e.Err)
		}
		if h := c.find(e.Name, e.Owner); h != nil {
			h.end(cause)
		}
	}
}

func (c *Client) find(name, owner string) *hold {
	c.mu.Lock()
	defer c.mu.Unlock()
	for h := range c.holds {
		if h.d.Name == name && h.d.Owner == owner {
			return h
		}
	}
	return nil
}
