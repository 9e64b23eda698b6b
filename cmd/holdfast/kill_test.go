//go:build linux

package main

import (
	"syscall"
	"testing"
	"time"
)

// A killed run takes its command along, and the next one is in as soon as the
// last process of the job is gone, long before the TTL.
func TestB051KilledRunFreesTheLock(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first := p.holdfast("job", "--", "beat", "first").start()
	p.awaitFile("first")
	second := p.holdfast("--wait", "5m", "job", "--", "stamp", "second").start()
	first.signal(syscall.SIGKILL)
	second.wantEnd(0)
	beats := p.numbers("first")
	last, next := beats[len(beats)-1], p.numbers("second")[0]
	if next < last {
		t.Fatalf("the second command ran %v before the first one's last beat", time.Duration(last-next))
	}
	if over := time.Duration(next - last); over > defaultTTL/2 {
		t.Fatalf("the second command came %v after the death of the first: the TTL freed the lock", over)
	} else {
		t.Logf("the second command ran %v after the last beat of the first", over)
	}
}

// Killing run spares what its command started: that keeps the lock until it
// ends, in a session of its own or not.
func TestSurvivorKeepsTheLock(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"in the group":   "hold survivor stop & wait",
		"in its session": "setsid hold survivor stop & wait",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			first := p.holdfast("job", "--", "sh", "-c", script).start()
			survivor := p.awaitPid("survivor")
			first.signal(syscall.SIGKILL)
			first.wantEnd(exitSignal + int(syscall.SIGKILL))
			p.holdfast("--no-wait", "job", "--", "stamp", "early").start().wantEnd(exitHeld)
			second := p.holdfast("job", "--", "stamp", "second").start()
			if !alive(survivor) {
				t.Fatal("nothing survived; this test shows nothing")
			}
			p.write("stop", "now")
			second.wantEnd(0)
			if p.exists("early") {
				t.Fatal("a command ran beside the survivor")
			}
			if alive(survivor) {
				t.Fatal("the second command ran beside the survivor")
			}
		})
	}
}

// A survivor that never ends keeps the lock for one TTL, not longer.
func TestSurvivorLosesTheLockAtTheTTL(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first := p.holdfast("--ttl", "4s", "job", "--", "sh", "-c", "hold survivor stop & wait").start()
	survivor := p.awaitPid("survivor")
	first.signal(syscall.SIGKILL)
	first.wantEnd(exitSignal + int(syscall.SIGKILL))
	p.holdfast("--no-wait", "job", "--", "true").start().wantEnd(exitHeld)
	p.holdfast("job", "--", "stamp", "second").start().wantEnd(0)
	if !alive(survivor) {
		t.Fatal("the survivor ended by itself; this test shows nothing")
	}
	p.write("stop", "now")
}

// A background process does not keep the lock once the command itself ended.
func TestNormalEndReleases(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.holdfast("job", "--", "sh", "-c", "hold left stop >/dev/null 2>&1 &").start().wantEnd(0)
	left := p.awaitPid("left")
	p.holdfast("--no-wait", "job", "--", "true").start().wantEnd(0)
	if !alive(left) {
		t.Fatal("what the command left running was ended")
	}
	p.write("stop", "now")
}
