//go:build linux

package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// place is a folder with the state of the locks and the files of one test.
type place struct {
	t   testing.TB
	dir string
}

func newPlace(t testing.TB) *place {
	t.Helper()
	p := &place{t: t, dir: t.TempDir()}
	if err := os.Mkdir(p.path("root"), 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *place) path(name string) string { return filepath.Join(p.dir, name) }

// state is the folder of the embedded store.
func (p *place) state() string { return p.path("state") }

func (p *place) read(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(p.path(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.t.Fatal(err)
	}
	return string(b)
}

func (p *place) write(name, text string) {
	p.t.Helper()
	if err := writeWhole(p.path(name), []byte(text)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) exists(name string) bool {
	_, err := os.Stat(p.path(name))
	return err == nil
}

// await waits until the condition is met.
func (p *place) await(what string, met func() bool) {
	p.t.Helper()
	if !eventually(met) {
		p.t.Fatalf("waited %v in vain: %s", patience, what)
	}
}

// awaitFile waits until the file has something in it.
func (p *place) awaitFile(name string) {
	p.t.Helper()
	p.await(name+" is there", func() bool { return p.read(name) != "" })
}

// awaitPid reads a pid that a command of ours wrote.
func (p *place) awaitPid(name string) int {
	p.t.Helper()
	p.awaitFile(name)
	pid, err := strconv.Atoi(strings.TrimSpace(p.read(name)))
	if err != nil {
		p.t.Fatal(err)
	}
	return pid
}

// numbers reads the times in a file, without other words.
func (p *place) numbers(name string) (list []int64) {
	p.t.Helper()
	for _, line := range strings.Fields(p.read(name)) {
		if n, err := strconv.ParseInt(line, 10, 64); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// command prepares a program in the place. Standard error is kept.
func (p *place) command(name string, args ...string) *proc {
	p.t.Helper()
	c := exec.Command(name, args...)
	c.Dir = p.dir
	c.Env = append(os.Environ(), "HOLDFAST_STORE=sqlite:"+p.state(), "TEST_ROOT="+p.path("root"), "HOLDFAST_HELD=")
	r := &proc{Cmd: c, t: p.t, out: newOutput(p), err: newOutput(p)}
	c.Stdout, c.Stderr = r.out.f, r.err.f
	return r
}

// holdfast prepares holdfast run.
func (p *place) holdfast(args ...string) *proc {
	p.t.Helper()
	return p.command("holdfast", append([]string{"run"}, args...)...)
}

// proc is a process of a test, killed at its end at the latest.
type proc struct {
	*exec.Cmd
	t        testing.TB
	out, err output
	tty      *os.File      // of one on a terminal
	done     chan struct{} // closed when it has ended
}

func (r *proc) start() *proc {
	r.t.Helper()
	if err := r.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.follow()
	return r
}

func (r *proc) follow() {
	r.done = make(chan struct{})
	go func() {
		defer close(r.done)
		_ = r.Wait()
	}()
	r.t.Cleanup(func() {
		_ = r.Process.Kill()
		<-r.done
	})
}

func (r *proc) signal(s os.Signal) {
	r.t.Helper()
	if err := r.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

// end waits for the end and returns the exit code, 128+n for a signal.
func (r *proc) end() int {
	r.t.Helper()
	select {
	case <-r.done:
	case <-time.After(patience):
		r.t.Fatalf("%v did not end; its errors so far:\n%s", r.Args, r.err.String())
	}
	ws := r.ProcessState.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return exitSignal + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// wantEnd fails unless the process ends with code.
func (r *proc) wantEnd(code int) {
	r.t.Helper()
	if got := r.end(); got != code {
		r.t.Fatalf("%v: exit code %d, want %d; errors:\n%s", r.Args, got, code, r.err.String())
	}
}

// alive reports whether a process is there and no zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	return state(stat) != 'Z' && state(stat) != 'X'
}

// state is the letter after the name in /proc/PID/stat, such as T for stopped.
func state(stat []byte) byte {
	rest := stat[bytes.LastIndexByte(stat, ')')+1:]
	if len(rest) < 2 {
		return 'X'
	}
	return rest[1]
}

func stateOf(pid int) byte {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 'X'
	}
	return state(stat)
}

// output is a file, not a pipe: what a process leaves running does not keep it
// from ending.
type output struct{ f *os.File }

func newOutput(p *place) output {
	p.t.Helper()
	f, err := os.CreateTemp(p.dir, "output-")
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = f.Close() })
	return output{f}
}

// String is what was written so far.
func (o output) String() string {
	b, err := os.ReadFile(o.f.Name())
	if err != nil {
		return err.Error()
	}
	return string(b)
}
