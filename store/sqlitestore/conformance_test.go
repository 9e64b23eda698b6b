//go:build linux || darwin || freebsd

package sqlitestore_test

import (
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/store/sqlitestore"
)

func TestConformance(t *testing.T) {
	drivertest.Run(t, drivertest.Harness{
		Place: func(tb testing.TB) func() driver.Store {
			dir := filepath.Join(tb.TempDir(), "locks")
			return func() driver.Store { return newStore(tb, dir) }
		},
	})
}

// newStore returns a Store that the caller closes.
func newStore(tb testing.TB, dir string) *sqlitestore.Store {
	tb.Helper()
	s, err := sqlitestore.NewStore(options(dir))
	if err != nil {
		tb.Fatalf("NewStore: %v", err)
	}
	return s
}
