package holdfast_test

import (
	"context"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// answering is a store that can be asked for an answer.
type answering struct {
	driver.Store
	err error
}

func (a *answering) Ping(context.Context) error { return a.err }

// A Ping that was answered is a first contact: from then on Lock bears with a
// silent store, where before it fails at once.
func TestPingIsContact(t *testing.T) {
	inBubble(t, func(w *world) {
		net := drivertest.NewFaulty(w.srv.Store())
		s := &answering{Store: net, err: driver.ErrUnavailable}
		c, err := holdfast.New(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(context.Background())
		w.is(c.Ping(w.Context()), holdfast.ErrUnavailable)
		net.Next(drivertest.Try, drivertest.Fault{LoseRequest: true, Err: driver.ErrUnavailable})
		_, err = c.Mutex("k", nil).Lock(w.Context())
		w.is(err, holdfast.ErrUnavailable)

		s.err = nil
		if err := c.Ping(w.Context()); err != nil {
			t.Fatal(err)
		}
		net.Next(drivertest.Try, drivertest.Fault{LoseRequest: true, Err: driver.ErrUnavailable})
		l, err := c.Mutex("k", nil).Lock(w.Context())
		if err != nil {
			t.Fatalf("after an answered Ping: %v", err)
		}
		w.unlock(l)
	})
}
