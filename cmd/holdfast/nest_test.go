//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// A nested run of another name ends with the outer one: when the outer lock is
// lost, the inner command dies in time too.
func TestNestedEndsWithTheOuter(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first := p.holdfast(slowly("--max-hold", "2s", "outer", "--", "holdfast", "run", "inner", "--", "beat", "beats")...).start()
	p.awaitFile("beats")
	next := p.holdfast("outer", "--", "stamp", "next").start()
	first.wantEnd(exitLost)
	next.wantEnd(0)
	beats := p.numbers("beats")
	if last, next := beats[len(beats)-1], p.numbers("next")[0]; next <= last {
		t.Fatalf("the inner command beat %d ns after the outer lock had passed on", last-next)
	}
	p.holdfast("inner", "--", "true").start().wantEnd(0)
}

// When the inner lock is lost the inner command ends and the outer one goes on.
func TestInnerLossSparesTheOuter(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	script := "holdfast run --max-hold 1s --kill-grace 1600ms inner -- sh -c 'beat a & beat b'; echo inner $?; hold up stop"
	outer := p.holdfast("outer", "--", "sh", "-c", script).start()
	p.awaitFile("up")
	if want := "inner 76\n"; outer.out.String() != want {
		t.Errorf("the script printed %q, want %q", outer.out.String(), want)
	}
	p.holdfast("--no-wait", "inner", "--", "stamp", "next").start().wantEnd(0)
	next := p.numbers("next")[0]
	for _, f := range []string{"a", "b"} {
		if beats := p.numbers(f); len(beats) > 0 && beats[len(beats)-1] >= next {
			t.Errorf("%s beat after the inner lock was free", f)
		}
	}
	p.holdfast("--no-wait", "outer", "--", "true").start().wantEnd(exitHeld)
	p.write("stop", "now")
	outer.wantEnd(0)
}

// A nested run is in the outer command's group, one that only inherited the
// variable is not.
func TestNestedStaysInTheGroup(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	group := `cut -d" " -f5 /proc/$$/stat`
	r := p.holdfast("outer", "--", "sh", "-c", group+"; holdfast run inner -- sh -c '"+group+"'").start()
	r.wantEnd(0)
	if got := strings.Fields(r.out.String()); len(got) != 2 || got[0] != got[1] {
		t.Errorf("groups of the outer and the inner command: %v, want the same twice", got)
	}
}

// A variable that a daemon inherited opens nothing.
func TestInheritedVariableIsNotBelieved(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first := p.holdfast("job", "--", "sh", "-c", "printenv HOLDFAST_HELD > env; hold up stop").start()
	p.awaitFile("up")
	stale := strings.TrimSpace(p.read("env"))
	p.tryWith(nextToken(t, stale), exitHeld)
	p.tryWith(stale, 0) // true as long as the lock is held
	p.write("stop", "now")
	first.wantEnd(0)

	holder := p.holdfast("job", "--", "hold", "up2", "stop2").start()
	p.awaitFile("up2")
	p.tryWith(stale, exitHeld)
	p.write("stop2", "now")
	holder.wantEnd(0)
}

// tryWith runs something under the lock in an environment that says it is held.
func (p *place) tryWith(held string, code int) {
	p.t.Helper()
	r := p.holdfast("--no-wait", "job", "--", "true")
	r.Env = append(r.Env, "HOLDFAST_HELD="+held)
	r.start().wantEnd(code)
}

func parent(pid int) int {
	ppid, _ := parentOf(pid)
	return ppid
}

// nextToken changes the token and keeps the fingerprint.
func nextToken(t *testing.T, held string) string {
	t.Helper()
	var list []outer
	if err := json.Unmarshal([]byte(held), &list); err != nil || len(list) != 1 {
		t.Fatalf("HOLDFAST_HELD is %q: %v", held, err)
	}
	list[0].Token++
	b, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A nested run of the same name is replaced by its command, so that signals and
// codes are the command's.
func TestNestedSameNameIsTheCommand(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first := p.holdfast("job", "--", "sh", "-c", "holdfast run job -- catch up log; exit $?").start()
	pid := p.awaitPid("up")
	if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", parent(pid))); err != nil || string(name) != "sh\n" {
		t.Errorf("above the command is %q (%v), want the shell itself", name, err)
	}
	if err := syscall.Kill(pid, syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	first.wantEnd(0)
}
