package holdfast

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Holder says who holds a lock, as far as the store knows. Program, host and
// label are empty for owners that left no record, such as other libraries.
type Holder struct {
	Name        string
	Kind        string
	Owner       string // the owner id in its 8-character form
	Fingerprint string // tells owner ids apart without giving them away
	Host        string
	PID         int
	Program     string
	Label       string
	Token       int64
	Since       time.Time // zero: unknown
	Until       time.Time // when it expires unless renewed; zero: never
	Resting     bool      // nobody works: the last holder's AtLeast has not passed
	Revoked     bool      // an operator took it away; the holder was not heard of since
	Waiters     int       // waiting clients; −1: cannot be seen
}

// Holder returns who holds name now, or ErrNotHeld. It asks the store once, for
// Options.Timeout at most. ErrRefused also means that the store cannot tell who
// holds a lock.
func (c *Client) Holder(ctx context.Context, name string) (Holder, error) {
	h, err := c.holder(ctx, name)
	return h, wrap("look up", name, err)
}

func (c *Client) holder(ctx context.Context, name string) (Holder, error) {
	if err := c.checkName(name); err != nil {
		return Holder{}, err
	}
	inspector, ok := c.store.(driver.Inspector)
	if !ok {
		return Holder{}, join(ErrRefused, errNoInspector)
	}
	bounded, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	hs, err := inspector.Inspect(bounded, name)
	if err != nil {
		return Holder{}, join(ctx.Err(), fromStore(err))
	}
	c.contacted.Store(true)
	if len(hs) == 0 {
		return Holder{}, errFree
	}
	return newHolder(hs[0]), nil
}

// errNoInspector: the store cannot show its holds.
var errNoInspector = errors.New("this store cannot show who holds a lock")

// errFree is ErrNotHeld for somebody who only looks.
var errFree = freeError{}

type freeError struct{}

func (freeError) Error() string        { return "nobody holds it" }
func (freeError) Is(target error) bool { return target == ErrNotHeld }

func newHolder(h driver.Holding) Holder {
	r := Holder{
		Name: h.Name, Kind: h.Kind.String(), Owner: shortOwner(h.Owner), Fingerprint: fingerprint(h.Owner),
		Host: h.Client.Host, PID: h.Client.PID, Program: h.Client.Program, Label: h.Client.Label,
		Token: h.Token, Since: h.Since, Resting: h.Resting, Revoked: h.Revoked, Waiters: h.Waiters,
	}
	if h.Left >= 0 {
		r.Until = time.Now().Add(h.Left)
	}
	return r
}
