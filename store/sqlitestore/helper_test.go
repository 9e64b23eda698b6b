//go:build linux || darwin || freebsd

package sqlitestore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/store/sqlitestore"
	"go.uber.org/goleak"
)

// The test binary runs itself as other processes. helperEnv says that it is one,
// and in which folder.
const helperEnv = "SQLITESTORE_TEST_HELPER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(helperEnv); dir != "" {
		os.Exit(serve(dir, os.Stdin, os.Stdout))
	}
	goleak.VerifyTestMain(m)
}

// serve obeys the lines it reads, one after the other, and answers each with a
// line.
func serve(dir string, in io.Reader, out io.Writer) int {
	s, err := sqlitestore.NewStore(options(dir))
	if err != nil {
		fmt.Fprintln(out, "error", err)
		return 1
	}
	h := &servant{dir: dir, s: s, holds: map[string]driver.Hold{}}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		fmt.Fprintln(out, h.obey(strings.Fields(lines.Text())))
	}
	if err := h.s.Close(context.Background()); err != nil {
		return 1
	}
	return 0
}

// options shares the folder if its name says so.
func options(dir string) *sqlitestore.Options {
	return &sqlitestore.Options{Dir: dir, System: strings.HasSuffix(dir, "shared")}
}

// servant is the other process's side.
type servant struct {
	dir   string
	s     *sqlitestore.Store
	holds map[string]driver.Hold
}

func (h *servant) obey(words []string) string {
	ctx := context.Background()
	switch words[0] {
	case "ping":
		return result(h.s.Ping(ctx))
	case "reopen":
		return result(h.reopen(ctx))
	case "setuid":
		return result(errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody)))
	case "try":
		g, err := h.s.Try(ctx, h.request(words))
		h.holds[words[1]] = g.Hold
		return result(err)
	case "lock":
		g, err := obtain(ctx, h.s, h.request(words))
		h.holds[words[1]] = g.Hold
		return result(err)
	case "release":
		r, err := h.s.Release(ctx, h.holds[words[1]])
		if err == nil && !r.Freed {
			return "nothing"
		}
		return result(err)
	case "rest":
		x := h.holds[words[1]]
		x.Rest = h.request(words).TTL
		_, err := h.s.Release(ctx, x)
		return result(err)
	case "count":
		return result(h.count(ctx, words[1], words[2]))
	case "fill":
		return result(h.fill(ctx, words[1]))
	case "spawn":
		pid, err := spawn(h.s)
		if err != nil {
			return result(err)
		}
		return fmt.Sprint(pid)
	}
	return "what?"
}

func (h *servant) reopen(ctx context.Context) error {
	if err := h.s.Close(ctx); err != nil {
		return err
	}
	s, err := sqlitestore.NewStore(options(h.dir))
	if err == nil {
		h.s = s
	}
	return err
}

// request reads "VERB NAME TTL".
func (h *servant) request(words []string) driver.Request {
	ttl, err := time.ParseDuration(words[2])
	if err != nil {
		panic(err)
	}
	return request(words[1], ttl)
}

// fill takes many long names.
func (h *servant) fill(ctx context.Context, names string) error {
	var n int
	if _, err := fmt.Sscan(names, &n); err != nil {
		return err
	}
	for i := range n {
		r := request(fmt.Sprintf("%01000d", i), time.Hour)
		g, err := h.s.Try(ctx, r)
		if err != nil {
			return err
		}
		h.holds[r.Name] = g.Hold
	}
	return nil
}

// count adds one to the number in a file, many times.
func (h *servant) count(ctx context.Context, file, times string) error {
	var n int
	if _, err := fmt.Sscan(times, &n); err != nil {
		return err
	}
	for range n {
		g, err := obtain(ctx, h.s, request("counter", time.Minute))
		if err != nil {
			return err
		}
		if err := increment(file); err != nil {
			return err
		}
		if _, err := h.s.Release(ctx, g.Hold); err != nil {
			return err
		}
	}
	return nil
}

func increment(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var n int
	if _, err := fmt.Sscan(string(b), &n); err != nil {
		return err
	}
	return os.WriteFile(file, fmt.Append(nil, n+1), 0o600)
}

// spawn starts a process that inherits the client's liveness file.
func spawn(s *sqlitestore.Store) (pid int, err error) {
	cmd := exec.Command("sleep", "1000")
	cmd.ExtraFiles = s.Inherit()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() { _ = cmd.Wait() }()
	return cmd.Process.Pid, nil
}

func result(err error) string {
	var b *driver.Busy
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &b):
		return fmt.Sprintf("busy %v", b.Left.Round(time.Minute))
	}
	return "error " + err.Error()
}

func request(name string, ttl time.Duration) driver.Request {
	return driver.Request{Name: name, Kind: driver.Mutex, Owner: newOwner(), TTL: ttl}
}

// obtain waits for a name.
func obtain(ctx context.Context, s *sqlitestore.Store, r driver.Request) (driver.Grant, error) {
	for {
		g, err := s.Try(ctx, r)
		var b *driver.Busy
		if !errors.As(err, &b) {
			return g, err
		}
		if err := s.Wait(ctx, r, b); err != nil {
			return g, err
		}
	}
}

// process is this side of a servant.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start runs a servant, perhaps through another command, such as unshare.
func start(t *testing.T, dir string, through ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := append(through, self)
	p := &process{t: t, cmd: exec.Command(args[0], args[1:]...)}
	// The race detector would sleep for a second at each exit.
	p.cmd.Env = append(os.Environ(), helperEnv+"="+dir, "GORACE=atexit_sleep_ms=0")
	p.cmd.Stderr = os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.end)
	return p
}

// send gives an order; answer waits for what came of it.
func (p *process) send(format string, args ...any) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) answer() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("the other process ended: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

func (p *process) ask(format string, args ...any) string {
	p.t.Helper()
	p.send(format, args...)
	return p.answer()
}

// want fails the test unless the answer begins so.
func (p *process) want(prefix, format string, args ...any) {
	p.t.Helper()
	if got := p.ask(format, args...); !strings.HasPrefix(got, prefix) {
		p.t.Fatalf("%q was answered %q, want %q", fmt.Sprintf(format, args...), got, prefix)
	}
}

// kill ends the process as a crash does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// end lets the process close its store.
func (p *process) end() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
}
