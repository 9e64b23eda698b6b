//go:build unix

package cases_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

// With the helpers the whole body runs under the lock, a late commit included,
// and has a fencing number at hand.
func TestB007CommitUnderTheLock(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		committed := 0
		entered := make(chan struct{})
		done := make(chan error, 1)
		go func() {
			done <- a.Mutex("row", w.ttl(10)).Do(context.Background(), func(_ context.Context, l *holdfast.Lease) error {
				close(entered)
				tx := committed + 1
				w.pass(w.s(0.2))
				committed = tx
				if l.Token() == 0 {
					w.Error("there is no fencing number")
				}
				return nil
			})
		}()
		<-entered
		w.is(b.Mutex("row", w.ttl(10)).Do(context.Background(), func(context.Context, *holdfast.Lease) error {
			committed++
			return nil
		}), nil)
		w.is(<-done, nil)
		if committed != 2 {
			w.Errorf("the row is %d, want 2: an update was lost", committed)
		}
	})
	inFolder(t, "command", func(w *world) {
		a := w.run("row", "--", "sh", "-c", `
			n=$(cat "$1" 2>/dev/null || echo 0); : >"$1.begun"; sleep 0.2; echo $((n+1)) >"$1"; echo "$HOLDFAST_TOKEN"`, "sh", w.file("row"))
		w.soon(w.s(10), "a is in its transaction", func() bool {
			_, err := os.Stat(w.file("row.begun"))
			return err == nil
		})
		b := w.run("row", "--", "sh", "-c", `n=$(cat "$1"); echo $((n+1)) >"$1"`, "sh", w.file("row"))
		b.exits(w.s(20), 0)
		a.exits(w.s(20), 0)
		if got := w.text("row"); got != "2\n" {
			w.Errorf("the row is %q, want 2: an update was lost", got)
		}
		if strings.TrimSpace(a.out.String()) == "" {
			w.Error("the command has no fencing number")
		}
	})
}

// With the defaults the death of a host stops the job elsewhere no longer than
// the default TTL.
func TestB051DefaultsSurviveADeadHost(t *testing.T) {
	t.Parallel()
	inFolder(t, "command", func(w *world) {
		a := w.run("job", "--", "sh", "-c", `echo $$ >"$1"; exec sleep 1000`, "sh", w.file("pid"))
		child := w.pids("pid", 1)[0]
		if left := w.holding("job").Left; left <= 0 || left > defaultTTL {
			w.Errorf("the defaults hold the name for %v after a crash", left)
		}
		b := w.run("--wait", "5m", "job", "--", "true")
		a.signal(syscall.SIGKILL)
		_ = syscall.Kill(child, syscall.SIGKILL) // it may be dead already
		b.exits(defaultTTL, 0)
	})
}

// Waiting ends at once by a signal; the command never starts, and nothing of the
// waiter stays.
func TestB073SignalsWhileWaiting(t *testing.T) {
	t.Parallel()
	inFolder(t, "command", func(w *world) {
		l := w.client().lock("k", w.ttl(60))
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			r := w.run("k", "--", "touch", w.file("started"))
			w.soon(w.s(10), "the command waits", func() bool { return w.holding("k").Waiters == 1 })
			r.signal(sig)
			r.exits(w.s(4), 128+int(sig))
			w.soon(w.s(4), "nobody waits", func() bool { return w.holding("k").Waiters == 0 })
			if _, err := os.Stat(w.file("started")); err == nil {
				w.Error("the command was started")
			}
		}
		w.is(l.Check(), nil)
	})
}

// A store that gives no answer and a lock that is taken are two errors and two
// exit codes.
func TestB159UnreachableIsNotTaken(t *testing.T) {
	eachStore(t, func(w *world) {
		a, b := w.client(), w.client()
		for _, told := range []error{nil, driver.ErrUnavailable} {
			b.net.Partition(told)
			_, err := b.Mutex("k", w.ttl(8)).TryLock(context.Background())
			w.is(err, holdfast.ErrUnavailable)
			w.isnt(err, holdfast.ErrHeld)
			b.net.Heal()
		}
		a.lock("k", w.ttl(60))
		_, err := b.Mutex("k", w.ttl(8)).TryLock(context.Background())
		w.is(err, holdfast.ErrHeld)
		w.isnt(err, holdfast.ErrUnavailable)
	})
	inFolder(t, "command", func(w *world) {
		w.client().lock("k", w.ttl(60))
		taken := w.run("--no-wait", "k", "--", "touch", w.file("started"))
		taken.exits(w.s(20), 75)
		tx, err := w.database().Begin() // by another program, which keeps everybody out
		w.is(err, nil)
		_, err = tx.Exec(w.statement("age.sql"))
		w.is(err, nil)
		silent := w.run("--no-wait", "free", "--", "touch", w.file("started"))
		silent.exits(w.s(60), 69)
		w.is(tx.Rollback(), nil)
		if _, err := os.Stat(w.file("started")); !errors.Is(err, os.ErrNotExist) {
			w.Error("a command was started without the lock")
		}
	})
}

// On loss the whole process group ends, not only a shell; exit codes pass
// through.
func TestB169TheWholeGroupEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		argv []string
		pids int
	}{
		"shell":      {[]string{"sh", "-c", `echo $$ >>"$0"; sleep 1000; true`}, 1},
		"plain":      {[]string{"sh", "-c", `echo $$ >>"$0"; exec sleep 1000`}, 1},
		"grandchild": {[]string{"sh", "-c", `echo $$ >>"$0"; (sh -c 'echo $$ >>"$0"; exec sleep 1000' "$0") & wait`}, 2},
		"stubborn":   {[]string{"sh", "-c", `trap '' TERM; echo $$ >>"$0"; while :; do sleep 0.1; done`}, 1},
	} {
		inFolder(t, name, func(w *world) {
			argv := append([]string{"--ttl", fmt.Sprint(w.s(12)), "k", "--"}, c.argv...)
			r := w.run(append(argv, w.file("pids"))...)
			pids := w.pids("pids", c.pids)
			w.remove("k")
			r.exits(w.s(12), 76)
			for _, pid := range pids {
				if alive(pid) {
					w.Errorf("process %d lives on without the lock", pid)
				}
			}
		})
	}
	inFolder(t, "codes", func(w *world) {
		w.run("k", "--", "sh", "-c", "exit 7").exits(w.s(20), 7)
		w.run("k", "--", "sh", "-c", "kill -USR1 $$").exits(w.s(20), 128+int(syscall.SIGUSR1))
	})
}

// Exclusion is not "once": with waiting a short job runs on each machine in
// turn, with a minimum hold and no waiting once a round.
func TestB173OncePerRound(t *testing.T) {
	t.Parallel()
	inFolder(t, "command", func(w *world) {
		job := []string{"job", "--", "sh", "-c", `echo run >>"$0"`, w.file("runs")}
		var all []*run
		for range 3 {
			all = append(all, w.run(append([]string{"--wait", fmt.Sprint(w.s(20) + w.slack)}, job...)...))
		}
		for _, r := range all {
			r.exits(w.s(40), 0)
		}
		if n := strings.Count(w.text("runs"), "run"); n != 3 {
			w.Errorf("with waiting the job ran %d times, want 3", n)
		}
		var codes []int
		for range 3 { // one after the other, within the minimum
			r := w.run(append([]string{"--no-wait", "--at-least", fmt.Sprint(w.s(16))}, job...)...)
			codes = append(codes, r.code(w.s(40)))
		}
		if n := strings.Count(w.text("runs"), "run") - 3; n != 1 {
			w.Errorf("with a minimum hold the job ran %d times, want 1", n)
		}
		held := 0
		for _, code := range codes {
			if code == 75 {
				held++
			}
		}
		if held != 2 {
			w.Errorf("exit codes %v, want 0 once and 75 twice", codes)
		}
	})
}

// Who never got the lock says so with a code of its own and one line that names
// the holder; an option may make the code 0.
func TestB175TimedOutWaitHasACode(t *testing.T) {
	t.Parallel()
	inFolder(t, "command", func(w *world) {
		first := w.run("--label", "first host", "k", "--", "sleep", "1000")
		w.soon(w.s(10), "the first host holds", func() bool { return w.held("k") })
		wait := fmt.Sprint(w.s(4))
		second := w.run("--wait", wait, "k", "--", "touch", w.file("started"))
		second.exits(w.s(20), 74)
		line := second.err.String()
		if strings.Count(line, "\n") != 1 || !strings.Contains(line, `"k"`) || !strings.Contains(line, fmt.Sprint(first.cmd.Process.Pid)) {
			w.Errorf("this is not one line that names the holder: %q", line)
		}
		w.run("--wait", wait, "--held-exit", "0", "k", "--", "touch", w.file("started")).exits(w.s(20), 0)
		if _, err := os.Stat(w.file("started")); !errors.Is(err, os.ErrNotExist) {
			w.Error("the command was started without the lock")
		}
	})
}

// A folder that cannot be used is one clear error: there is no silent fallback.
func TestB165NoFallback(t *testing.T) {
	t.Parallel()
	inFolder(t, "command", func(w *world) {
		file := filepath.Join(w.TempDir(), "file")
		w.is(os.WriteFile(file, nil, 0o600), nil)
		r := w.run("--store", "sqlite:"+file, "k", "--", "touch", w.file("started"))
		r.exits(w.s(20), 77)
		if _, err := os.Stat(w.file("started")); !errors.Is(err, os.ErrNotExist) {
			w.Error("the command was started without the lock")
		}
	})
}

// A TTL that is no TTL is a usage error of the command too.
func TestB133OddTTLsOfTheCommand(t *testing.T) {
	t.Parallel()
	inFolder(t, "command", func(w *world) {
		for _, ttl := range []string{"0", "0s", "-1s", "1ns", "30", "1000000h", "soon"} {
			w.run("--ttl="+ttl, "k", "--", "touch", w.file("started")).exits(w.s(20), 64)
		}
		if _, err := os.Stat(w.file("started")); !errors.Is(err, os.ErrNotExist) {
			w.Error("a command was started without a TTL")
		}
	})
}
