package memstore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/store/memstore"
)

// excludes reports whether a lock of a keeps b out.
func excludes(t *testing.T, a, b *holdfast.Client) bool {
	t.Helper()
	lease, err := a.Mutex("n", nil).Lock(t.Context())
	if err != nil {
		t.Fatalf("Lock: %v", err)
	}
	other, err := b.Mutex("n", nil).TryLock(t.Context())
	if err != nil && !errors.Is(err, holdfast.ErrHeld) {
		t.Fatalf("TryLock: %v", err)
	}
	if err := errors.Join(lease.Unlock(), unlock(other)); err != nil {
		t.Errorf("Unlock: %v", err)
	}
	return other == nil
}

func unlock(l *holdfast.Lease) error {
	if l == nil {
		return nil
	}
	return l.Unlock()
}

func closeLater(t *testing.T, c *holdfast.Client) *holdfast.Client {
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return c
}

func TestNew(t *testing.T) {
	open := func(s *memstore.Server) *holdfast.Client {
		c, err := memstore.New(s, nil)
		if err != nil {
			t.Fatalf("New: %v", err)
		}
		return closeLater(t, c)
	}
	server := memstore.NewServer()
	if !excludes(t, open(server), open(server)) {
		t.Error("two clients of one server do not exclude each other")
	}
	if excludes(t, open(nil), open(nil)) {
		t.Error("clients without a server exclude each other")
	}
	bad := &memstore.Options{Client: holdfast.Options{Timeout: -1}}
	if _, err := memstore.New(nil, bad); !errors.Is(err, holdfast.ErrInvalid) {
		t.Errorf("New with a negative timeout: %v, want %v", err, holdfast.ErrInvalid)
	}
}

func TestOpen(t *testing.T) {
	open := func(url string) *holdfast.Client {
		c, err := holdfast.Open(t.Context(), url, nil)
		if err != nil {
			t.Fatalf("Open(%q): %v", url, err)
		}
		return closeLater(t, c)
	}
	for _, c := range []struct {
		a, b   string
		shared bool
	}{
		{"memory:", "memory:", false},
		{"memory:x", "memory:x", true},
		{"memory:x", "memory:y", false},
		{"memory:x", "memory:", false},
		{"memory:a%20b", "memory:a%20b", true},
	} {
		if got := excludes(t, open(c.a), open(c.b)); got != c.shared {
			t.Errorf("%s and %s share locks: %v, want %v", c.a, c.b, got, c.shared)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, url := range []string{
		"memory:/", "memory:/x", "memory://", "memory://host", "memory://host/x",
		"memory:x?ttl=3s", "memory:?ttl=3s", "memory:?", "memory:x#y", "memory:x#", "memory:x%zz", "memory:\x7f", "memo:x", "x",
	} {
		if _, err := memstore.Open(t.Context(), url, nil); !errors.Is(err, holdfast.ErrInvalid) {
			t.Errorf("Open(%q): %v, want %v", url, err, holdfast.ErrInvalid)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := memstore.Open(ctx, "memory:", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Open with an ended ctx: %v, want %v", err, context.Canceled)
	}
}
