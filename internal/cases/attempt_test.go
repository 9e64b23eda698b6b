//go:build unix

package cases_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// attempt is one run of a case in real time. It keeps failures to itself: what a
// case says while this machine stood still, it says about the machine.
type attempt struct {
	testing.TB

	mu       sync.Mutex // guards the following
	failures []string
	cleanups []func()
	stall    time.Duration // the longest seen
}

const (
	// usual is how long a second of a case lasts in real time.
	usual = time.Second / 4
	// slower is what it lasts if the machine stalls.
	slower = 4 * usual
	// stalled is how late a timer may be on a machine that does not stall.
	stalled = usual / 5
)

// inRealTime runs a case, and again at a slower pace if it failed while the
// machine stalled.
func inRealTime(t *testing.T, f func(tb testing.TB, second time.Duration)) {
	t.Helper()
	a := try(t, usual, f)
	if len(a.failures) > 0 && a.stall > stalled {
		t.Logf("tried again, slower, since this machine stalled for %v meanwhile: %s", a.stall, strings.Join(a.failures, "\n"))
		a = try(t, slower, f)
	}
	for _, failure := range a.failures {
		t.Errorf("%s (longest stall of this machine: %v)", failure, a.stall)
	}
}

func try(t *testing.T, second time.Duration, f func(testing.TB, time.Duration)) (a *attempt) {
	a = &attempt{TB: t}
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() { a.watch(done) })
	defer watch.Wait()
	defer close(done)
	defer a.clean()
	defer func() {
		if r := recover(); r != nil && r != any(a) {
			panic(r)
		}
	}()
	f(a, second) // Fatal panics with a
	return a
}

// watch measures by how much timers are late.
func (a *attempt) watch(done <-chan struct{}) {
	const every = 5 * time.Millisecond
	for before := time.Now(); ; before = time.Now() {
		select {
		case <-done:
			return
		case <-time.After(every):
		}
		a.mu.Lock()
		a.stall = max(a.stall, time.Since(before)-every)
		a.mu.Unlock()
	}
}

func (a *attempt) clean() {
	for len(a.cleanups) > 0 {
		last := len(a.cleanups) - 1
		f := a.cleanups[last]
		a.cleanups = a.cleanups[:last]
		f()
	}
}

func (a *attempt) Cleanup(f func()) { a.cleanups = append(a.cleanups, f) }

func (a *attempt) Error(args ...any) { a.note(strings.TrimSpace(fmt.Sprintln(args...))) }

func (a *attempt) Errorf(format string, args ...any) { a.note(fmt.Sprintf(format, args...)) }

func (a *attempt) Fatal(args ...any) {
	a.Error(args...)
	panic(a)
}

func (a *attempt) Fatalf(format string, args ...any) {
	a.Errorf(format, args...)
	panic(a)
}

func (a *attempt) note(failure string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failures = append(a.failures, caller()+": "+failure)
}

// caller is the line of the case that is being run.
func caller() string {
	pcs := make([]uintptr, 50)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	where := "elsewhere"
	for f, more := frames.Next(); more; f, more = frames.Next() {
		if strings.Contains(f.Function, "cases_test.") && !strings.HasSuffix(f.File, "/attempt_test.go") {
			line := fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
			if strings.Contains(f.Function, ".TestB") {
				return line
			}
			if where == "elsewhere" {
				where = line
			}
		}
	}
	return where
}
