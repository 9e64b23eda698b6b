//go:build linux

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// As process 1 of a container run passes signals on, though the kernel would
// drop them, and reaps orphans that are not its own.
func TestProcessOne(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	// The inner shell leaves an orphan behind, which ends and is reaped.
	script := `sh -c 'sh -c "echo \$\$ >orphan" & echo $! >pid'; catch up log; exit 6`
	r := p.command("unshare", append(asRoot(), "--fork", "--pid", "--mount-proc",
		"holdfast", "run", "job", "--", "sh", "-c", "trap : TERM HUP; "+script)...).start()
	p.awaitFile("up")
	p.awaitFile("orphan")
	one := childOf(t, p, r.Process.Pid)
	p.await("the orphan is reaped", func() bool { return len(childrenOf(one)) == 1 })
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		if err := syscall.Kill(one, sig); err != nil {
			t.Fatal(err)
		}
		p.await("the command got it", func() bool { return strings.Contains(p.read("log"), sig.String()) })
	}
	r.wantEnd(6)
}

// Orphans of a run that is not process 1 come to it too, and are reaped.
func TestOrphansAreReaped(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.holdfast("job", "--", "sh", "-c", `sh -c 'setsid sh -c "echo \$\$ >orphan; exec hold up1 stop1" &'; hold up2 stop2`).start()
	p.awaitFile("up2")
	orphan := p.awaitPid("up1")
	p.await("the orphan falls to the run", func() bool { return parent(orphan) == r.Process.Pid })
	p.write("stop1", "now")
	p.await("the orphan is reaped", func() bool { return stateOf(orphan) == 'X' })
	p.write("stop2", "now")
	r.wantEnd(0)
}

// The store that all users share is a folder of the machine.
func TestSystemStore(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	// A tmpfs over /var/lib keeps the test off the real one.
	script := `mount -t tmpfs tmpfs /var/lib && holdfast run --system job -- sh -c 'ls -d /var/lib/holdfast; holdfast run --system --no-wait job -- echo inside; exec env HOLDFAST_HELD= holdfast run --system --no-wait job -- true'`
	r := p.command("unshare", append(asRoot(), "--mount", "sh", "-c", script)...).start()
	r.wantEnd(exitHeld)
	if got, want := r.out.String(), "/var/lib/holdfast\ninside\n"; got != want {
		t.Errorf("it printed %q, want %q", got, want)
	}
}

// asRoot are the flags by which unshare works for other users, too.
func asRoot() []string {
	if os.Geteuid() == 0 {
		return nil
	}
	return []string{"--user", "--map-root-user"}
}

// childOf waits for the one child of a process.
func childOf(t *testing.T, p *place, pid int) int {
	t.Helper()
	p.await("a child", func() bool { return len(childrenOf(pid)) == 1 })
	return childrenOf(pid)[0]
}

func childrenOf(pid int) (list []int) {
	for _, c := range processes() {
		if parent(c) == pid {
			list = append(list, c)
		}
	}
	return list
}
