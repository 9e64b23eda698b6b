//go:build !linux && !darwin && !freebsd

package sqlitestore

import (
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

func TestUnsupported(t *testing.T) {
	s, err := NewStore(&Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("Ping said %v, want %v", err, driver.ErrRefused)
	}
}
