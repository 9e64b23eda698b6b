//go:build unix

package pause

import "golang.org/x/sys/unix"

// monotonic reads the clock that all processes of the machine share.
func monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err)
	}
	return ts.Nano()
}
