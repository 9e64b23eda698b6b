//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// A wait obeys signals at once, with a code that tells, and leaves no waiter
// behind: the next holder is the one that asks next.
func TestB073SignalsEndTheWait(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			holder := p.holdfast("job", "--", "hold", "up", "stop").start()
			p.awaitFile("up")
			waiter := p.holdfast("--json", "job", "--", "stamp", "waiter").start()
			p.await("it waits", func() bool { return strings.Contains(waiter.err.String(), `"event":"waiting"`) })
			waiter.signal(sig)
			waiter.wantEnd(exitSignal + int(sig))
			p.write("stop", "now")
			holder.wantEnd(0)
			p.holdfast("--no-wait", "job", "--", "true").start().wantEnd(0)
			if p.exists("waiter") {
				t.Error("the command of the interrupted run started")
			}
		})
	}
}

// Signals reach the command once each, in order.
func TestSignalsAreForwarded(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.holdfast("job", "--", "catch", "up", "log").start()
	p.awaitFile("up")
	want := ""
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1, syscall.SIGQUIT, syscall.SIGUSR2, syscall.SIGTERM, syscall.SIGHUP} {
		r.signal(sig)
		want += fmt.Sprintln(sig)
		p.await(fmt.Sprintf("%v in the log", sig), func() bool { return len(p.read("log")) >= len(want) })
	}
	r.wantEnd(0)
	if got := p.read("log"); got != want {
		t.Errorf("the command got\n%swant\n%s", got, want)
	}
}

// They reach what the command started, too.
func TestSignalsReachTheGroup(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.holdfast("job", "--", "sh", "-c", "trap : HUP; catch up1 log1 & wait $!; wait $!; exit 5").start()
	p.awaitFile("up1")
	r.signal(syscall.SIGHUP)
	r.wantEnd(5)
	if got, want := p.read("log1"), fmt.Sprintln(syscall.SIGHUP); got != want {
		t.Errorf("the grandchild got %q, want %q", got, want)
	}
}

// A second interrupt kills a command that ignores the first.
func TestSecondInterruptKills(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.holdfast("job", "--", "catch", "up", "log").start()
	pid := p.awaitPid("up")
	r.signal(os.Interrupt)
	p.awaitFile("log")
	r.signal(os.Interrupt)
	r.wantEnd(exitSignal + int(syscall.SIGKILL))
	if alive(pid) {
		t.Error("the command is alive")
	}
	p.holdfast("--no-wait", "job", "--", "true").start().wantEnd(0)
}

// What nohup ignores stays ignored, for the run and for the command.
func TestIgnoredSignalsStayIgnored(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.command("sh", "-c", `trap "" HUP; exec holdfast run job -- sh -c 'grep SigIgn /proc/$$/status; hold up stop'`).start()
	p.awaitFile("up")
	r.signal(syscall.SIGHUP)
	p.write("stop", "now")
	r.wantEnd(0)
	var mask uint64
	if _, err := fmt.Sscanf(r.out.String(), "SigIgn: %x", &mask); err != nil || mask&1 == 0 {
		t.Errorf("the command does not ignore HUP: %q, %v", r.out.String(), err)
	}
}

// A command that is stopped by hand keeps its lock, past the TTL.
func TestStoppedCommandKeepsTheLock(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.holdfast("--ttl", "3s", "job", "--", "hold", "up", "stop").start()
	p.stopPastTheTTL()
	r.wantEnd(0)
}

// So it does at a terminal, where a shell could stop the run with it.
func TestStoppedCommandKeepsTheLockAtATerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.shell()
	r.typeIn("holdfast run --ttl 3s job -- hold up stop; exit $?\n")
	p.stopPastTheTTL()
	r.wantEnd(0)
}

// stopPastTheTTL stops the command that made "up", waits longer than a TTL of
// three seconds in vain, and lets the command end.
func (p *place) stopPastTheTTL() {
	p.t.Helper()
	pid := p.awaitPid("up")
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		p.t.Fatal(err)
	}
	p.await("it is stopped", func() bool { return stateOf(pid) == 'T' })
	p.holdfast("--wait", "7s", "job", "--", "true").start().wantEnd(exitTimeout)
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		p.t.Fatal(err)
	}
	p.write("stop", "now")
}
