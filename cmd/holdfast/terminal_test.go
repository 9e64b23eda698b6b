//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// onTerminal starts r on a terminal of its own and collects what it shows.
func (r *proc) onTerminal() {
	r.t.Helper()
	r.Stdout, r.Stderr = nil, nil
	tty, err := pty.StartWithSize(r.Cmd, &pty.Winsize{Rows: 24, Cols: 200})
	if err != nil {
		r.t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(r.out.f, tty) // ends with the last process on the terminal
	}()
	r.t.Cleanup(func() {
		killSession(r.Process.Pid)
		<-read
		_ = tty.Close()
	})
	r.tty = tty
	r.follow()
}

// shell starts a shell with job control on a terminal.
func (p *place) shell() *proc {
	p.t.Helper()
	r := p.command("bash", "--norc", "-i")
	r.Env = append(r.Env, "PS1=$ ", "HISTFILE=")
	r.onTerminal()
	p.awaitShown(r, "$ ")
	return r
}

// killSession kills what is left on the terminal of a process that led it.
func killSession(sid int) {
	for _, pid := range processes() {
		if s, err := unix.Getsid(pid); err == nil && s == sid {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func (r *proc) typeIn(keys string) {
	r.t.Helper()
	if _, err := io.WriteString(r.tty, keys); err != nil {
		r.t.Fatal(err)
	}
}

func (p *place) awaitShown(r *proc, text string) {
	p.t.Helper()
	p.await(fmt.Sprintf("the terminal shows %q; it shows %q", text, r.out.String()), func() bool {
		return strings.Contains(r.out.String(), text)
	})
}

// A command may read the terminal: it is in the foreground, and afterwards the
// caller is again.
func TestCommandReadsTheTerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.command("sh", "-c", `holdfast run job -- sh -c 'echo ready; read x; echo "first $x"'; read y; echo "then $y"`)
	r.onTerminal()
	p.awaitShown(r, "ready")
	r.typeIn("one\n")
	p.awaitShown(r, "first one")
	r.typeIn("two\n")
	p.awaitShown(r, "then two")
	r.wantEnd(0)
}

// A command that fails to start leaves the terminal to the caller.
func TestFailedStartGivesTheTerminalBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if err := os.WriteFile(p.path("rotten"), []byte("#!/no/such/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := p.command("sh", "-c", `holdfast run job -- ./rotten; echo "code $?"; read y; echo "then $y"`)
	r.onTerminal()
	p.awaitShown(r, "code 127")
	r.typeIn("two\n")
	p.awaitShown(r, "then two")
	r.wantEnd(0)
}

// In a pipeline the terminal stays where it was, for a pager at its end, until
// the command itself reads it.
func TestPipelineSharesTheTerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	pager := `sh -c 'read text; echo paging; read key </dev/tty; echo "key $key"; touch stop'`
	r := p.shell()
	r.typeIn("holdfast run job -- sh -c 'echo text; hold up stop' | " + pager + "\n")
	p.awaitShown(r, "paging\r\n")
	r.typeIn("down\n")
	p.awaitShown(r, "key down")
	r.typeIn("holdfast run job -- sh -c 'read x; echo \"got $x\"' | cat\n")
	r.typeIn("word\n")
	p.awaitShown(r, "got word")
	r.typeIn("exit 3\n")
	r.wantEnd(3)
}

// ^Z stops the command and us, so that a shell can take over, and fg continues
// both, in the foreground.
func TestStopKeyIsJobControl(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.shell()
	r.typeIn("holdfast run job -- sh -c 'echo $$ >pid; read x; echo \"got $x\"'\n")
	pid := p.awaitPid("pid")
	p.await("it reads", func() bool { return stateOf(pid) == 'S' })
	r.typeIn("\x1a")
	p.awaitShown(r, "Stopped")
	if stateOf(pid) != 'T' {
		t.Fatalf("the command is in state %c, want stopped", stateOf(pid))
	}
	r.typeIn("echo shell $((6*7))\n")
	p.awaitShown(r, "shell 42")
	r.typeIn("fg\n")
	p.await("it goes on", func() bool { return stateOf(pid) == 'S' })
	r.typeIn("word\n")
	p.awaitShown(r, "got word")
	r.typeIn("exit 3\n")
	r.wantEnd(3)
}

// Without a shell that could continue it, a stopped command goes on by itself.
func TestStopKeyWithoutAShell(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.holdfast("job", "--", "sh", "-c", "echo $$ >pid; read x; echo \"got $x\"")
	r.onTerminal()
	pid := p.awaitPid("pid")
	p.await("it reads", func() bool { return stateOf(pid) == 'S' })
	r.typeIn("\x1a")
	p.await("it goes on", func() bool { return stateOf(pid) == 'S' })
	r.typeIn("word\n")
	p.awaitShown(r, "got word")
	r.wantEnd(0)
}

// In the background of a shell a command runs on, and is stopped with us when it
// wants the terminal; fg gives it the terminal.
func TestBackgroundJobGetsTheTerminalByFg(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.shell()
	r.typeIn("holdfast run job -- sh -c 'echo $$ >pid; read x; echo \"got $x\"' &\n")
	pid := p.awaitPid("pid")
	p.await("it is stopped for wanting the terminal", func() bool { return stateOf(pid) == 'T' && stateOf(parent(pid)) == 'T' })
	r.typeIn("until [ -n \"$(jobs -s)\" ]; do :; done; fg\n") // the shell hears of it last
	p.await("it goes on", func() bool { return stateOf(pid) == 'S' })
	r.typeIn("word\n")
	p.awaitShown(r, "got word")
	r.typeIn("exit 3\n")
	r.wantEnd(3)
}

// On a terminal a wait shows who holds the lock, since when, for how long it has
// waited, and who shares the store.
func TestWaitingShowsTheHolder(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	holder := p.holdfast("--label", "night shift", "job", "--", "hold", "up", "stop").start()
	p.awaitFile("up")
	r := p.holdfast("job", "--", "echo", "mine")
	r.onTerminal()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	p.awaitShown(r, fmt.Sprintf(`for "job", held by pid %d on %s since `, holder.Process.Pid, host))
	p.awaitShown(r, p.state())
	p.await("it is updated", func() bool { return strings.Count(r.out.String(), "waiting ") >= 2 })
	p.write("stop", "now")
	p.awaitShown(r, "mine")
	r.wantEnd(0)
	if strings.Contains(r.out.String(), "\n"+prefix) {
		t.Errorf("the line was not written in place:\n%q", r.out.String())
	}
}

// --quiet shows nothing, on a terminal too.
func TestQuietWaitShowsNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	holder := p.holdfast("job", "--", "hold", "up", "stop").start()
	p.awaitFile("up")
	r := p.holdfast("--quiet", "--wait", "1500ms", "job", "--", "echo", "mine")
	r.onTerminal()
	r.wantEnd(exitTimeout)
	p.write("stop", "now")
	holder.wantEnd(0)
	if r.out.String() != "" {
		t.Errorf("it showed %q", r.out.String())
	}
}
