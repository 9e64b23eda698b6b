//go:build linux || darwin || freebsd

package sqlitestore_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/store/sqlitestore"
)

func TestClients(t *testing.T) {
	dir := folder(t)
	a, err := holdfast.Open(t.Context(), "sqlite:"+dir, &holdfast.Options{Label: "nightly"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := sqlitestore.New(&sqlitestore.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(a.Close(context.Background()), b.Close(context.Background())); err != nil {
			t.Error(err)
		}
	}()
	lease, err := a.Mutex("n", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Mutex("n", nil).TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("TryLock of a held name said %v", err)
	}
	h, err := b.Holder(t.Context(), "n")
	if err != nil || h.Label != "nightly" || h.PID == 0 || h.Host == "" || h.Token != lease.Token() || time.Since(h.Since) > time.Minute {
		t.Errorf("the holder is %+v, %v", h, err)
	}
	if got := a.Inherit(); len(got) != 1 {
		t.Errorf("a child can inherit %d files, want 1", len(got))
	}
	if err := lease.Unlock(); err != nil {
		t.Error(err)
	}
	if err := b.Do(t.Context(), "n", func(context.Context, *holdfast.Lease) error { return nil }); err != nil {
		t.Error(err)
	}
}

// TestNewTouchesNothing: what is wrong shows with the first request.
func TestNewTouchesNothing(t *testing.T) {
	dir := folder(t)
	c, err := sqlitestore.New(&sqlitestore.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if left := files(t, filepath.Dir(dir), ""); len(left) > 0 {
		t.Errorf("New made %q", left)
	}
	if _, err := sqlitestore.New(&sqlitestore.Options{Dir: dir, Client: holdfast.Options{Timeout: -1}}); !errors.Is(err, holdfast.ErrInvalid) {
		t.Errorf("New with bad options said %v", err)
	}
}
