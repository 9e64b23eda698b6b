package holdfast_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast"
)

func init() { holdfast.Register("broken", openBroken) }

func openBroken(context.Context, string, *holdfast.Options) (*holdfast.Client, error) {
	return nil, holdfast.ErrUnavailable
}

// A URL that leads nowhere is one clear error, without the password in it.
func TestOpenErrors(t *testing.T) {
	for _, c := range []struct {
		url  string
		is   error
		text []string
	}{
		{"", holdfast.ErrInvalid, []string{"SCHEME:"}},
		{"nothing", holdfast.ErrInvalid, []string{`"nothing"`, "SCHEME:"}},
		{"carrier-pigeon://loft", holdfast.ErrInvalid, []string{"carrier-pigeon", "memory"}},
		{"broken://user:secret@host/0", holdfast.ErrUnavailable, []string{"broken://user:xxxxx@host/0", "reachable"}},
		{"broken://user:secret@host:port with%zz spaces?password=secret", holdfast.ErrUnavailable, []string{"reachable"}},
		{"user:secret@host", holdfast.ErrInvalid, nil},
	} {
		_, err := holdfast.Open(t.Context(), c.url, nil)
		if !errors.Is(err, c.is) {
			t.Errorf("Open %q: %v, want %v", c.url, err, c.is)
			continue
		}
		for _, part := range c.text {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("Open %q: %v: does not say %q", c.url, err, part)
			}
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("Open %q: %v: shows the password", c.url, err)
		}
	}
}

func TestRegisterTwicePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the second store of a scheme was not refused")
		}
	}()
	holdfast.Register("broken", openBroken)
}

// Open and the constructor give a client of the same kind.
func TestOpenMemory(t *testing.T) {
	c, err := holdfast.Open(t.Context(), "memory:", &holdfast.Options{Label: "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	if c.Store() != "memory" || len(c.ID()) != 36 || c.Inherit() != nil {
		t.Errorf("store %q, id %q, files %v", c.Store(), c.ID(), c.Inherit())
	}
	_, err = holdfast.Open(t.Context(), "memory:", &holdfast.Options{Timeout: -1})
	if !errors.Is(err, holdfast.ErrInvalid) {
		t.Errorf("bad options: %v", err)
	}
}
