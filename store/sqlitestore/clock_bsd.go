//go:build darwin || freebsd

package sqlitestore

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// clock reads time that all processes of the machine share.
type clock struct{ boot string }

func newClock() (clock, error) {
	boot, err := unix.Sysctl(bootID)
	if err != nil || boot == "" {
		return clock{}, fmt.Errorf("cannot tell this boot from others: sysctl %s: %w", bootID, err)
	}
	return clock{boot: boot}, nil
}

// now is an instant in nanoseconds.
func (c clock) now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(monotonic, &ts); err != nil {
		panic(err) // every system of this build has this clock
	}
	return ts.Nano()
}
