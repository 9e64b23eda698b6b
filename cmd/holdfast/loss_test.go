//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// jam keeps every writer out of the embedded store, as if it could not be
// reached, and returns what lets them in again.
func (p *place) jam() (free func()) {
	p.t.Helper()
	r := p.command("jam", p.state()+"/locks.db", "jammed", "unjam").start()
	p.awaitFile("jammed")
	return func() {
		p.write("unjam", "now")
		r.wantEnd(0)
	}
}

// When renewals fail, the command gets TERM at the deadline; one that ignores it
// is dead before anyone else may enter.
func TestDeadBeforeTheNextEnters(t *testing.T) {
	p := newPlace(t)
	first := p.holdfast("--ttl", "4s", "--kill-grace", "1600ms", "job", "--", "beat", "first").start()
	p.awaitFile("first")
	free := p.jam()
	p.await("the command was asked to end", func() bool { return strings.Contains(p.read("first"), "term") })
	free()
	second := p.holdfast("--ttl", "4s", "job", "--", "stamp", "second").start()
	first.wantEnd(exitLost)
	second.wantEnd(0)
	beats := p.numbers("first")
	if last, next := beats[len(beats)-1], p.numbers("second")[0]; next <= last {
		t.Fatalf("the second command ran %d ns before the first one's last beat", last-next)
	}
	if !strings.Contains(first.err.String(), "was lost") {
		t.Fatalf("the loss was not told:\n%s", first.err.String())
	}
}

// Without the kill the command goes on beside the next one: what the test above
// sees is the kill's doing.
func TestOnLostWarnGoesOn(t *testing.T) {
	p := newPlace(t)
	first := p.holdfast("--ttl", "1s", "--on-lost", "warn", "job", "--", "sh", "-c", "hold up stop; exit 9").start()
	p.awaitFile("up")
	first.signal(syscall.SIGSTOP)
	second := p.holdfast("--ttl", "1s", "job", "--", "hold", "up2", "stop2").start()
	p.awaitFile("up2")
	first.signal(syscall.SIGCONT)
	p.await("a warning", func() bool { return strings.Contains(first.err.String(), "goes on without it") })
	p.write("stop", "now")
	first.wantEnd(9)
	p.write("stop2", "now")
	second.wantEnd(0)
}

// A run that was stopped past the deadline kills the command at its next step
// and leaves the lock to whoever has it now.
func TestStoppedRunKillsWhenItGoesOn(t *testing.T) {
	p := newPlace(t)
	first := p.holdfast("--ttl", "1s", "job", "--", "beat", "first").start()
	p.awaitFile("first")
	first.signal(syscall.SIGSTOP)
	second := p.holdfast("--ttl", "1s", "job", "--", "hold", "up2", "stop2").start()
	p.awaitFile("up2")
	first.signal(syscall.SIGCONT)
	first.wantEnd(exitLost)
	p.holdfast("--no-wait", "job", "--", "true").start().wantEnd(exitHeld)
	p.write("stop2", "now")
	second.wantEnd(0)
}

// A command that ended while its run was stopped and the lock lost did not run
// under the lock to its end: its own code would hide that.
func TestLossBeforeTheEndShows(t *testing.T) {
	p := newPlace(t)
	first := p.holdfast("--ttl", "1s", "job", "--", "hold", "up", "stop").start()
	p.awaitFile("up")
	first.signal(syscall.SIGSTOP)
	p.write("stop", "now")
	p.holdfast("--ttl", "1s", "job", "--", "true").start().wantEnd(0)
	first.signal(syscall.SIGCONT)
	first.wantEnd(exitLost)
}

// Whoever deletes the state folder takes every lock away, and holders learn.
func TestDeletedStateIsLoss(t *testing.T) {
	p := newPlace(t)
	first := p.holdfast("--ttl", "1s", "job", "--", "beat", "first").start()
	p.awaitFile("first")
	if err := os.RemoveAll(p.state()); err != nil {
		t.Fatal(err)
	}
	first.wantEnd(exitLost)
}

// On loss everything that the command started is killed: the group, and what
// left it for a session of its own.
func TestB169WholeTreeIsKilled(t *testing.T) {
	p := newPlace(t)
	script := "beat a & (beat b & setsid beat c & wait) & beat d"
	first := p.holdfast("--max-hold", "2s", "--ttl", "1s", "job", "--", "sh", "-c", script).start()
	files := []string{"a", "b", "c", "d"}
	for _, f := range files {
		p.awaitFile(f)
	}
	second := p.holdfast("job", "--", "stamp", "second").start()
	first.wantEnd(exitLost)
	second.wantEnd(0)
	next := p.numbers("second")[0]
	for _, f := range files {
		beats := p.numbers(f)
		if last := beats[len(beats)-1]; next <= last {
			t.Errorf("%s beat %d ns after the next command had started", f, last-next)
		}
	}
}

// What the command left running when it ended by itself is spared, even if it
// stayed in the group.
func TestCodesPassThrough(t *testing.T) {
	p := newPlace(t)
	for _, code := range []int{0, 1, 7, 64, 75, 126, 255} {
		p.holdfast("job", "--", "sh", "-c", fmt.Sprint("exit ", code)).start().wantEnd(code)
	}
	p.holdfast("job", "--", "sh", "-c", "kill -TERM $$").start().wantEnd(exitSignal + int(syscall.SIGTERM))
	p.holdfast("job", "--", "sh", "-c", "kill -KILL $$").start().wantEnd(exitSignal + int(syscall.SIGKILL))
}
