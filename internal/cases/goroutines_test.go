//go:build unix

package cases_test

import (
	"regexp"
	"runtime"
)

// standing is how many goroutines a client may keep until it is closed: for its
// renewals, for what it gives back, and for the signals of its store.
const standing = 3

// settles waits until no more goroutines run than before.
func (w *world) settles(base int) {
	w.Helper()
	w.soon(w.s(5), "the goroutines end", func() bool { return w.goroutines() <= base })
}

// bubbled is how a goroutine of a bubble begins in a dump of all stacks.
var bubbled = regexp.MustCompile(`(?m)^goroutine \d+ .*synctest bubble`)

// goroutines counts those of the case. In a bubble those outside do not count:
// the runtime starts some of its own for a moment, and virtual time does not
// wait for them.
func (w *world) goroutines() int {
	if w.store != "memory" {
		return runtime.NumGoroutine()
	}
	for size := 1 << 16; ; size *= 4 {
		stacks := make([]byte, size)
		n := runtime.Stack(stacks, true)
		if n == size {
			continue
		}
		found := len(bubbled.FindAll(stacks[:n], -1))
		if found == 0 {
			w.Fatal("this goroutine was not found in the dump of all stacks")
		}
		return found
	}
}
