//go:build linux

package main

import (
	"sync"
	"testing"
	"time"
)

const idlers = 50

// Waiting is not polling: fifty runs that wait ten seconds use hardly more
// processor time than fifty that give up at once.
func TestWaitersAreIdle(t *testing.T) {
	p := newPlace(t)
	holder := p.holdfast("job", "--", "hold", "up", "stop").start()
	p.awaitFile("up")
	base := p.cpuOf(exitHeld, "--no-wait")
	used := p.cpuOf(exitTimeout, "--wait", "10s")
	p.write("stop", "now")
	holder.wantEnd(0)
	t.Logf("processor time of %d runs: %v held at once, %v waiting 10s", idlers, base, used)
	// Looking four times a second would cost 50 × 40 looks of about a millisecond.
	if most := 2*base + time.Second; used > most {
		t.Errorf("%d waiters used %v of processor time, more than %v", idlers, used, most)
	}
}

// cpuOf runs fifty at once and returns their processor time.
func (p *place) cpuOf(code int, flags ...string) time.Duration {
	p.t.Helper()
	var all sync.WaitGroup
	runs := make([]*proc, idlers)
	for i := range runs {
		runs[i] = p.holdfast(append(flags, "job", "--", "true")...)
		all.Go(func() {
			if err := runs[i].Run(); runs[i].ProcessState.ExitCode() != code {
				p.t.Errorf("%v, want exit code %d:\n%s", err, code, runs[i].err.String())
			}
		})
	}
	all.Wait()
	var sum time.Duration
	for _, r := range runs {
		sum += r.ProcessState.UserTime() + r.ProcessState.SystemTime()
	}
	return sum
}
