package drivertest

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// client is one client of the place.
type client struct {
	driver.Store
	e      *env
	info   driver.ClientInfo
	closed bool
}

// grant is a Grant and when it was made.
type grant struct {
	driver.Grant
	at moment
}

// busy is a Busy and when it was told.
type busy struct {
	*driver.Busy
	at moment
}

// end is when the store says that the name will be free.
func (b busy) end() moment { return b.at.plus(b.Left) }

// client opens a further client.
func (e *env) client() *client {
	e.Helper()
	c := &client{Store: e.open(), e: e}
	c.info = driver.ClientInfo{ID: uuid(), Host: "host", PID: 1, Program: "drivertest", Started: time.Now()}
	if h, ok := c.Store.(driver.Host); ok {
		h.Attach(c.info, func(driver.Event) {})
	}
	e.Cleanup(c.close)
	return c
}

// close closes the client unless the case did.
func (c *client) close() {
	if c.closed {
		return
	}
	c.closed = true
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := c.Close(ctx); err != nil {
		c.e.Errorf("Close: %v", err)
	}
}

// uuid returns a random UUID.
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// owner returns an owner id that no request has used.
func (c *client) owner() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%s:%d", c.info.ID, binary.BigEndian.Uint64(b[:])>>1)
}

// request asks for name with a new owner.
func (c *client) request(name string, ttl time.Duration) driver.Request {
	return driver.Request{
		Name: name, Kind: driver.Mutex, Owner: c.owner(), TTL: ttl,
		NotAfter: time.Now().Add(c.e.long),
	}
}

// try sends r and fails the case on any answer but a grant or Busy. One of the
// results is nil.
func (c *client) try(r driver.Request) (*grant, *busy) {
	c.e.Helper()
	var g driver.Grant
	var err error
	at := during(func() { g, err = c.Try(c.e.ctx, r) })
	if err == nil {
		return &grant{g, at}, nil
	}
	var b *driver.Busy
	if !errors.As(err, &b) {
		c.e.fatal("Try(%q) failed: %v", r.Name, err)
	}
	return nil, &busy{b, at}
}

// granted sends r and fails the case unless it is granted.
func (c *client) granted(r driver.Request) *grant {
	c.e.Helper()
	g, b := c.try(r)
	if b != nil {
		c.e.fatal("Try of a name that should be free said it is held by %q for %v more (resting: %v)", b.Owner, b.Left, b.Resting)
	}
	return g
}

// take takes name for a new owner.
func (c *client) take(name string, ttl time.Duration) *grant {
	c.e.Helper()
	return c.granted(c.request(name, ttl))
}

// refused tries name for a new owner and fails the case if that is granted.
func (c *client) refused(name string) *busy {
	c.e.Helper()
	g, b := c.try(c.request(name, c.e.long))
	if g != nil {
		c.e.fatal("Try of a name that should be held was granted, with token %d", g.Hold.Token)
	}
	return b
}

// heldBy fails the case unless owner holds name.
func (c *client) heldBy(name, owner string) *busy {
	c.e.Helper()
	b := c.refused(name)
	if b.Owner != owner {
		c.e.fatal("Busy.Owner is %q, want the holder %q", b.Owner, owner)
	}
	return b
}

// free fails the case unless name can be taken. It leaves it free.
func (c *client) free(name string) *grant {
	c.e.Helper()
	g := c.take(name, c.e.long)
	c.end(g.Hold)
	return g
}

// manyWaits is more often than any case has to wait.
const manyWaits = 10_000

// errSpins ends a loop that would never end in a bubble, where no time passes
// while something runs.
var errSpins = fmt.Errorf("wait returned %d times although nothing changed", manyWaits)

// obtain waits for name as the core does: try, wait, try again.
func (c *client) obtain(ctx context.Context, name string, ttl time.Duration) (*grant, error) {
	r := c.request(name, ttl)
	for range manyWaits {
		var g driver.Grant
		var err error
		r.NotAfter = time.Now().Add(c.e.long)
		at := during(func() { g, err = c.Try(ctx, r) })
		var b *driver.Busy
		if !errors.As(err, &b) {
			return &grant{g, at}, err
		}
		if err := c.Wait(ctx, r, b); err != nil {
			return nil, err
		}
	}
	return nil, errSpins
}

// got is obtain for cases that cannot go on without.
func (c *client) got(name string, ttl time.Duration) *grant {
	c.e.Helper()
	g, err := c.obtain(c.e.ctx, name, ttl)
	if err != nil {
		c.e.fatal("waiting for %q failed: %v", name, err)
	}
	return g
}

// release sends h and fails the case if that fails.
func (c *client) release(h driver.Hold) driver.Released {
	c.e.Helper()
	rel, err := c.Release(c.e.ctx, h)
	if err != nil {
		c.e.fatal("Release(%q) failed: %v", h.Name, err)
	}
	return rel
}

// end releases h, which must be held.
func (c *client) end(h driver.Hold) driver.Released {
	c.e.Helper()
	rel := c.release(h)
	if !rel.Freed {
		c.e.fatal("Release of a live hold says that it freed nothing")
	}
	return rel
}

// rest ends h and lets the name rest for d.
func (c *client) rest(h driver.Hold, d time.Duration) moment {
	c.e.Helper()
	h.Rest = d
	return during(func() { c.end(h) }).plus(d)
}

// renew raises h to ttl.
func (c *client) renew(h driver.Hold, ttl time.Duration) (v driver.Validity, at moment, err error) {
	h.TTL = ttl
	at = during(func() {
		a := renewAll(c.e.ctx, c.Store, []driver.Hold{h})[0]
		v, err = a.v, a.err
	})
	return v, at, err
}

// renewed raises h to ttl and fails the case if that fails.
func (c *client) renewed(h driver.Hold, ttl time.Duration) (driver.Validity, moment) {
	c.e.Helper()
	v, at, err := c.renew(h, ttl)
	if err != nil {
		c.e.fatal("Renew of a live hold failed: %v", err)
	}
	return v, at
}

// gone fails the case unless a renewal of h is answered ErrGone.
func (c *client) gone(h driver.Hold) {
	c.e.Helper()
	if _, _, err := c.renew(h, c.e.long); !errors.Is(err, driver.ErrGone) {
		c.e.broken("Renew of a hold that has ended said %v, want %v", err, driver.ErrGone)
	}
}
