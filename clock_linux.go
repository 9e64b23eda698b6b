package holdfast

import (
	"syscall"
	"time"
	"unsafe"
)

const (
	clockMonotonic = 1
	clockBoottime  = 7
)

// systemAsleep is how much longer the machine is up than its monotonic clock
// has run. The two clocks are read one after the other; a reading during which
// the thread was stopped is taken again.
func systemAsleep() time.Duration {
	const steady = 200 * time.Microsecond
	var best, window time.Duration
	for try := range 10 {
		before := readClock(clockMonotonic)
		boot := readClock(clockBoottime)
		took := readClock(clockMonotonic) - before
		if try == 0 || took < window {
			best, window = boot-before, took
		}
		if window < steady {
			break
		}
	}
	return best
}

func readClock(id uintptr) time.Duration {
	var ts syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		return 0
	}
	return time.Duration(ts.Nano())
}
