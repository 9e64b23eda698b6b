//go:build unix

package cases_test

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

// The owner of another program's hold is opaque: it is reported as taken, in a
// form that is safe to print, and never released by us.
func TestB177ForeignOwner(t *testing.T) {
	eachStore(t, func(w *world) {
		a := w.client()
		r := driver.Request{
			Name: "k", Kind: driver.Mutex, Owner: "s:36:\"packed\x00\xff\x1b[31m\";", TTL: w.s(30), NotAfter: time.Now().Add(time.Hour),
		}
		g, err := w.eye.Try(context.Background(), r)
		w.is(err, nil)
		before := w.state("k")
		_, err = a.Mutex("k", nil).TryLock(context.Background())
		w.is(err, holdfast.ErrHeld)
		h, err := a.Holder(context.Background(), "k")
		w.is(err, nil)
		if len(h.Owner) != 8 || h.Owner == r.Owner[:8] {
			w.Errorf("the foreign owner is shown as %q", h.Owner)
		}
		_, err = a.Mutex("k", w.upTo(10, 1)).Lock(context.Background())
		w.is(err, holdfast.ErrHeld)
		w.untouched("k", before)
		if rel, err := w.eye.Release(context.Background(), g.Hold); err != nil || !rel.Freed {
			w.Errorf("the peer's own release: %+v, %v", rel, err)
		}
		w.unlock(a.lock("k", w.ttl(10)))
	})
}

// A program refuses a folder whose format it does not know, so that it never
// locks beside the other.
func TestB181UnknownFormat(t *testing.T) {
	inFolder(t, "sqlite", func(w *world) {
		w.unlock(w.client().lock("k", nil))
		w.exec("future.sql")
		_, err := w.stranger().Mutex("k", nil).Lock(context.Background())
		w.is(err, holdfast.ErrRefused)
		w.isnt(err, holdfast.ErrHeld)
	})
}
