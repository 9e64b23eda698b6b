//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/store/sqlitestore"
)

// slowly adds flags that leave a busy machine time to kill before the store may
// grant the lock again.
func slowly(args ...string) []string {
	return append([]string{"--kill-grace", "1600ms"}, args...)
}

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
	t.Parallel()
	p := newPlace(t)
	first := p.holdfast(slowly("--ttl", "4s", "job", "--", "beat", "first")...).start()
	p.awaitFile("first")
	free := p.jam()
	p.await("the command was asked to end", func() bool { return strings.Contains(p.read("first"), "term") })
	free()
	second := p.holdfast("job", "--", "stamp", "second").start()
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
	t.Parallel()
	p := newPlace(t)
	first := p.holdfast("--ttl", "1s", "--on-lost", "warn", "job", "--", "sh", "-c", "hold up stop; exit 9").start()
	p.awaitFile("up")
	first.signal(syscall.SIGSTOP)
	second := p.holdfast("job", "--", "hold", "up2", "stop2").start()
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
	t.Parallel()
	p := newPlace(t)
	first := p.holdfast("--ttl", "1s", "job", "--", "beat", "first").start()
	p.awaitFile("first")
	first.signal(syscall.SIGSTOP)
	second := p.holdfast("job", "--", "hold", "up2", "stop2").start()
	p.awaitFile("up2")
	first.signal(syscall.SIGCONT)
	first.wantEnd(exitLost)
	p.holdfast("--no-wait", "job", "--", "true").start().wantEnd(exitHeld)
	p.write("stop2", "now")
	second.wantEnd(0)
}

// A command that ended while its run was stopped and the lock lost did not run
// under the lock to its end: its own code would hide that. The run may notice
// either first, so it is tried several times.
func TestLossBeforeTheEndShows(t *testing.T) {
	for i := range 5 {
		t.Run(fmt.Sprint("try ", i), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			first := p.holdfast("--ttl", "1s", "job", "--", "hold", "up", "stop").start()
			p.awaitFile("up")
			first.signal(syscall.SIGSTOP)
			p.write("stop", "now")
			p.holdfast("job", "--", "true").start().wantEnd(0)
			first.signal(syscall.SIGCONT)
			first.wantEnd(exitLost)
		})
	}
}

// An operator who takes the lock away ends the command, and nobody enters before
// that is done.
func TestRevokedEndsTheCommand(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first := p.holdfast(slowly("job", "--", "beat", "first")...).start()
	p.awaitFile("first")
	second := p.holdfast("job", "--", "stamp", "second").start()
	p.revoke("job")
	first.wantEnd(exitLost)
	second.wantEnd(0)
	beats := p.numbers("first")
	if last, next := beats[len(beats)-1], p.numbers("second")[0]; next <= last {
		t.Errorf("the second command ran %d ns before the first one's last beat", last-next)
	}
	if !strings.Contains(first.err.String(), "taken away by an operator") {
		t.Errorf("it was told as\n%s", first.err.String())
	}
}

// revoke takes a lock away, as an operator does.
func (p *place) revoke(name string) {
	p.t.Helper()
	s, err := sqlitestore.NewStore(&sqlitestore.Options{Dir: p.state()})
	if err != nil {
		p.t.Fatal(err)
	}
	ctx := p.t.Context()
	defer s.Close(ctx)
	s.Attach(driver.ClientInfo{ID: "operator"}, func(driver.Event) {})
	held, err := s.Inspect(ctx, name)
	if err != nil || len(held) != 1 {
		p.t.Fatalf("held: %v, %v", held, err)
	}
	if err := s.Break(ctx, name, held[0].Owner, held[0].Token, false); err != nil {
		p.t.Fatal(err)
	}
}

// Processes that were there before the run are not the command's, though they
// are its parent's children.
func TestLossSparesOlderChildren(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.command("sh", "-c", "hold older stop & exec holdfast run --ttl 1s --max-hold 500ms job -- beat beats").start()
	older := p.awaitPid("older")
	r.wantEnd(exitLost)
	if !alive(older) {
		t.Error("a process that was there before was killed")
	}
	p.write("stop", "now")
}

// Whoever deletes the state folder takes every lock away, and holders learn.
func TestDeletedStateIsLoss(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	p := newPlace(t)
	script := "beat a & (beat b & setsid beat c & wait) & beat d"
	first := p.holdfast(slowly("--max-hold", "2s", "job", "--", "sh", "-c", script)...).start()
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
