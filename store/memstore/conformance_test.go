package memstore_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/store/memstore"
)

func place(testing.TB) func() driver.Store {
	return memstore.NewServer().Store
}

func TestConformance(t *testing.T) {
	drivertest.Run(t, drivertest.Harness{Place: place, Virtual: true})
}

// TestConformanceInRealTime is for the suite as much as for the store: stores
// behind a socket run it like this.
func TestConformanceInRealTime(t *testing.T) {
	drivertest.Run(t, drivertest.Harness{Place: place, Unit: 200 * time.Millisecond})
}
