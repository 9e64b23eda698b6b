package sqlitestore

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// clock reads time that all processes of the machine share: CLOCK_MONOTONIC
// without the offset that a time namespace may add to it.
type clock struct {
	boot   string
	offset int64
}

func newClock() (clock, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return clock{}, fmt.Errorf("cannot tell this boot from others: %w: mount /proc", err)
	}
	offset, err := namespaceOffset()
	return clock{boot: strings.TrimSpace(string(boot)), offset: offset}, err
}

// now is an instant in nanoseconds.
func (c clock) now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // every Linux has this clock
	}
	return ts.Nano() - c.offset
}

// namespaceOffset is what this process's time namespace adds to the machine's
// monotonic clock; 0 for kernels without such namespaces. The file describes the
// namespace of our children, which is ours unless somebody called unshare(2) and
// did not fork.
func namespaceOffset() (int64, error) {
	b, err := os.ReadFile("/proc/self/timens_offsets")
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("cannot read the offset of the time namespace: %w", err)
	}
	own, _ := os.Readlink("/proc/self/ns/time")
	children, _ := os.Readlink("/proc/self/ns/time_for_children")
	if own != children {
		return 0, errors.New("this process is in another time namespace than its children: start it with unshare --fork")
	}
	return parseOffset(string(b))
}

// parseOffset reads lines such as "monotonic  100  0": seconds and nanoseconds.
func parseOffset(s string) (int64, error) {
	for line := range strings.Lines(s) {
		var name string
		var sec, nsec int64
		if _, err := fmt.Sscan(line, &name, &sec, &nsec); err != nil {
			return 0, fmt.Errorf("cannot read the offset of the time namespace in %q: %w", line, err)
		}
		if name == "monotonic" {
			return sec*int64(time.Second) + nsec, nil
		}
	}
	return 0, nil
}
