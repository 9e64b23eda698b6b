//go:build unix

package cases_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// program is the compiled command, made when the first case needs it.
var program struct {
	sync.Once
	dir, path string
	err       error
}

func buildProgram() {
	if program.dir, program.err = os.MkdirTemp("", "holdfast-cases-"); program.err != nil {
		return
	}
	program.path = filepath.Join(program.dir, "holdfast")
	out, err := exec.Command("go", "build", "-o", program.path, "github.com/holdfast-go/holdfast/cmd/holdfast").CombinedOutput()
	if err != nil {
		program.err = fmt.Errorf("%w\n%s", err, out)
	}
}

func removeProgram() {
	if program.dir != "" {
		_ = os.RemoveAll(program.dir)
	}
}

// run is one run of the command, which dies with the case.
type run struct {
	w     *world
	cmd   *exec.Cmd
	out   bytes.Buffer
	err   bytes.Buffer
	ended chan struct{} // closed when cmd has been waited for
}

// run starts "holdfast run" with these arguments in the folder of the case.
func (w *world) run(args ...string) *run {
	w.Helper()
	program.Do(buildProgram)
	if program.err != nil {
		w.Fatal(program.err)
	}
	r := &run{w: w, ended: make(chan struct{})}
	r.cmd = exec.Command(program.path, append([]string{"run"}, args...)...)
	r.cmd.Dir = w.TempDir()
	r.cmd.Env = append(os.Environ(), "HOLDFAST_STORE=sqlite:"+w.dir)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.err
	r.cmd.WaitDelay = time.Second // for what a grandchild keeps open
	if err := r.cmd.Start(); err != nil {
		w.Fatal(err)
	}
	go func() {
		defer close(r.ended)
		_ = r.cmd.Wait() // code tells
	}()
	w.Cleanup(func() {
		r.signal(syscall.SIGKILL)
		<-r.ended
	})
	return r
}

func (r *run) signal(s syscall.Signal) {
	r.w.Helper()
	if err := r.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		r.w.Error(err)
	}
}

// code waits at most d for the end, and returns the exit code.
func (r *run) code(d time.Duration) int {
	r.w.Helper()
	select {
	case <-r.ended:
	case <-time.After(d + r.w.slack):
		r.w.Fatalf("%v did not end within %v\n%s", r.cmd.Args, d, r.err.String())
	}
	return r.cmd.ProcessState.ExitCode()
}

// exits fails the case unless the command ends within d with this code.
func (r *run) exits(d time.Duration, want int) {
	r.w.Helper()
	if got := r.code(d); got != want {
		r.w.Errorf("%v: exit code %d, want %d\n%s", r.cmd.Args, got, want, r.err.String())
	}
}

// file is a path in the folder of the case, for what its commands write.
func (w *world) file(name string) string { return filepath.Join(w.dir, "case-"+name) }

// text is what a file contains; nothing if there is none.
func (w *world) text(name string) string {
	w.Helper()
	b, err := os.ReadFile(w.file(name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.Fatal(err)
	}
	return string(b)
}

// pids waits until a file has n lines, each with the id of a process.
func (w *world) pids(name string, n int) []int {
	w.Helper()
	var ids []int
	w.soon(w.s(20), fmt.Sprintf("%d processes run", n), func() bool {
		ids = nil
		for _, line := range strings.Fields(w.text(name)) {
			id, err := strconv.Atoi(line)
			if err != nil {
				w.Fatal(err)
			}
			ids = append(ids, id)
		}
		return len(ids) == n
	})
	return ids
}

// alive reports whether there is such a process, other than a zombie.
func alive(pid int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // where there is /proc
	_, state, _ := bytes.Cut(stat, []byte(") "))
	return syscall.Kill(pid, 0) == nil && !bytes.HasPrefix(state, []byte("Z"))
}
