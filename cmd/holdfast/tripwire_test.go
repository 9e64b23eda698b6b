//go:build linux

package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const interruptKey = "\x03"

// ^C at a terminal reaches a command once, as it would without us.
func TestInterruptKeyReachesTheCommandOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.holdfast("job", "--", "catch", "up", "log")
	r.onTerminal()
	pid := p.awaitPid("up")
	r.typeIn(interruptKey)
	p.awaitFile("log")
	r.signal(syscall.SIGUSR1) // passed on after anything that came before
	want := fmt.Sprintf("%v\n%v\n", syscall.SIGINT, syscall.SIGUSR1)
	p.await("both signals", func() bool { return len(p.read("log")) >= len(want) })
	p.hangUp(pid)
	r.wantEnd(0)
	if got := strings.TrimSuffix(p.read("log"), fmt.Sprintln(syscall.SIGHUP)); got != want {
		t.Errorf("the command got\n%swant\n%s", got, want)
	}
}

// A second ^C kills a plain command that takes no notice of the first: one in the
// foreground, one under two locks, one that a script ran or that got the terminal
// later, and one that reads something else so that ^C comes to us.
func TestSecondInterruptKeyKills(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{
		"foreground": "exec holdfast run --json job -- catch up log",
		"nested":     "exec holdfast run --json outer -- holdfast run job -- catch up log",
		"script":     "holdfast run --json job -- sh -c 'catch up log; true'; exit $?",
		"by line":    "exec holdfast run --json job -- sh -c 'read x; catch up log; true'",
		"pipeline":   "{ holdfast run --json job -- sh -c 'read x; catch up log; true'; echo $? >code; } | cat; exit $(cat code)",
		"elsewhere":  "exec holdfast run --json job -- catch up log </dev/null",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			r := p.command("sh", "-c", command)
			r.onTerminal()
			if strings.Contains(command, "read x") {
				r.typeIn("word\n")
			}
			pid := p.awaitPid("up")
			if name != "elsewhere" {
				p.tripwireOf(runOf(t, pid))
			}
			r.typeIn(interruptKey)
			p.awaitFile("log")
			p.awaitShown(r, `"event":"signal"`)
			r.typeIn(interruptKey)
			r.wantEnd(exitSignal + int(syscall.SIGKILL))
			if alive(pid) {
				t.Error("the command is alive")
			}
			p.awaitNobody(r)
		})
	}
}

// An interrupt that is sent to us counts once, like the key.
func TestInterruptsCountOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.holdfast("job", "--", "catch", "up", "log")
	r.onTerminal()
	p.awaitFile("up")
	first := p.tripwireOf(r.Process.Pid)
	r.signal(syscall.SIGINT)
	p.awaitFile("log")
	r.signal(syscall.SIGUSR1)
	p.await("the command goes on", func() bool { return strings.Contains(p.read("log"), syscall.SIGUSR1.String()) })
	p.await("another tripwire", func() bool { return p.tripwireOf(r.Process.Pid) != first })
	r.typeIn(interruptKey)
	r.wantEnd(exitSignal + int(syscall.SIGKILL))
}

// A signal that the command sends to its whole group leaves ^C noticed.
func TestInterruptKeyAfterAGroupSignal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.holdfast("--json", "job", "--", "sh", "-c", `trap "" TERM; hold up1 stop1; kill 0; hold up2 stop2; exec catch up log`)
	r.onTerminal()
	p.awaitFile("up1")
	first := p.tripwireOf(r.Process.Pid)
	p.write("stop1", "now")
	p.await("another tripwire", func() bool { return p.tripwireOf(r.Process.Pid) != first })
	p.write("stop2", "now")
	p.awaitFile("up")
	r.typeIn(interruptKey)
	p.awaitShown(r, `"event":"signal"`)
	r.typeIn(interruptKey)
	r.wantEnd(exitSignal + int(syscall.SIGKILL))
}

// A command that reads key by key has ^C for itself, as an editor does, and goes
// on having it when it reads by line for a while, as psql does for a query.
func TestInterruptKeyOfACommandThatReadsKeys(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"now":   "stty -icanon; exec catch up log",
		"later": "stty -icanon; hold up1 stop1; stty icanon; exec catch up log",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			r := p.holdfast("job", "--", "sh", "-c", script)
			r.onTerminal()
			if name == "later" {
				p.awaitFile("up1")
				p.await("no tripwire", func() bool { return len(childrenOf(r.Process.Pid)) == 1 })
				p.write("stop1", "now")
			}
			pid := p.awaitPid("up")
			for n := 1; n <= 3; n++ {
				r.typeIn(interruptKey)
				p.await("the interrupt arrives", func() bool { return strings.Count(p.read("log"), "\n") >= n })
			}
			p.hangUp(pid)
			r.wantEnd(0)
			if got := strings.Count(p.read("log"), syscall.SIGINT.String()); got != 3 {
				t.Errorf("the command got %d interrupts, want 3", got)
			}
		})
	}
}

// An interactive shell has ^C for itself, too, even one that reads by line.
func TestInterruptKeyOfAShell(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"sh", "bash --norc"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			r := p.holdfast(append([]string{"job", "--"}, strings.Fields(shell+" -i")...)...)
			r.Env = append(r.Env, "PS1=ready> ")
			r.onTerminal()
			p.awaitShown(r, "ready> ")
			for range 3 {
				r.typeIn(interruptKey)
				shown := len(r.out.String())
				p.await("a prompt", func() bool {
					r.typeIn("\n") // the key may have cleared the line
					return strings.Contains(r.out.String()[shown:], "ready> ")
				})
			}
			r.typeIn("exit 4\n")
			r.wantEnd(4)
		})
	}
}

// The command is in the foreground from the start: in the background git and
// rsync show no progress, wget writes to a file, and a read under su waits for
// ever.
func TestCommandStartsInTheForeground(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.holdfast("job", "--", "sh", "-c", `cut -d" " -f5,8 /proc/$$/stat >groups; hold up stop`)
	r.onTerminal()
	p.awaitFile("up")
	if got := strings.Fields(p.read("groups")); len(got) != 2 || got[0] != got[1] {
		t.Errorf("the command's group and the foreground group: %v, want the same twice", got)
	}
	p.write("stop", "now")
	r.wantEnd(0)
	p.awaitNobody(r)
}

// A run that is killed leaves nothing behind, the tripwire included.
func TestKilledRunLeavesNoTripwire(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.holdfast("job", "--", "hold", "up", "stop")
	r.onTerminal()
	p.awaitFile("up")
	p.tripwireOf(r.Process.Pid)
	r.signal(syscall.SIGKILL)
	r.end()
	p.awaitNobody(r)
}

// tripwireOf waits for a run to have a tripwire that does its work.
func (p *place) tripwireOf(run int) (pid int) {
	p.t.Helper()
	p.await("a tripwire", func() bool {
		for _, pid = range childrenOf(run) {
			group, err := syscall.Getpgid(pid)
			if err == nil && group != pid && ignores(pid, syscall.SIGQUIT) {
				return true
			}
		}
		return false
	})
	return pid
}

// runOf returns the run whose command, or what that started, has this pid.
func runOf(t *testing.T, pid int) int {
	t.Helper()
	group, err := syscall.Getpgid(pid)
	if err != nil {
		t.Fatal(err)
	}
	return parent(group)
}

// awaitNobody waits until the terminal of a process that led it has no others.
func (p *place) awaitNobody(r *proc) {
	p.t.Helper()
	p.await("everything on the terminal ends", func() bool {
		for _, pid := range processes() {
			if s, err := unix.Getsid(pid); err == nil && s == r.Process.Pid && alive(pid) {
				return false
			}
		}
		return true
	})
}

func (p *place) hangUp(pid int) {
	p.t.Helper()
	if err := syscall.Kill(pid, syscall.SIGHUP); err != nil {
		p.t.Fatal(err)
	}
}
