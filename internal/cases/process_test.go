//go:build unix

package cases_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/store/sqlitestore"
)

// puppetDir names the folder of a puppet, in its environment.
const puppetDir = "HOLDFAST_CASES_PUPPET"

// puppet is what this test binary does as the child of a case: it obeys one
// request a line and answers with a line, with one client of its own.
type puppet struct {
	locks  *holdfast.Client
	leases map[string]*holdfast.Lease
}

func runPuppet(dir string) {
	locks, err := sqlitestore.New(&sqlitestore.Options{
		Dir: dir, Client: holdfast.Options{Label: "same label"},
	})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	p := &puppet{locks: locks, leases: map[string]*holdfast.Lease{}}
	p.churn("hello "+locks.ID(), "1") // with time to open the folder
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		fmt.Println(p.obey(strings.Fields(in.Text())))
	}
}

func (p *puppet) obey(words []string) string {
	switch name := words[1]; words[0] {
	case "lock":
		return p.lock(name, words[2], (*holdfast.Mutex).Lock)
	case "try":
		return p.lock(name, words[2], (*holdfast.Mutex).TryLock)
	case "unlock":
		return say(p.leases[name].Unlock())
	case "check":
		return say(p.leases[name].Check())
	case "alive":
		return say(p.leases[name].Context().Err())
	case "look":
		return look(p.leases[name])
	case "churn":
		return p.churn(name, words[2])
	case "pid":
		return strconv.Itoa(os.Getpid())
	}
	return "error unknown request"
}

func (p *puppet) lock(name, ttl string, get func(*holdfast.Mutex, context.Context) (*holdfast.Lease, error)) string {
	d, err := time.ParseDuration(ttl)
	if err != nil {
		return say(err)
	}
	l, err := get(p.locks.Mutex(name, &holdfast.MutexOptions{TTL: d}), context.Background())
	if err == nil {
		p.leases[name] = l
	}
	return say(err)
}

// look asks the lease's context again and again until it ends, and tells whether
// it ever said "held" after the deadline.
func look(l *holdfast.Lease) string {
	for {
		deadline, now := l.Deadline(), time.Now()
		err := l.Context().Err()
		switch {
		case err != nil:
			return say(err)
		case now.After(deadline):
			return "stale"
		}
	}
}

// churn locks and unlocks n times and tells the fingerprints of the owners.
func (p *puppet) churn(name, times string) string {
	n, err := strconv.Atoi(times)
	if err != nil {
		return say(err)
	}
	prints := []string{"ok"}
	for range n {
		err := p.locks.Do(context.Background(), name, func(_ context.Context, l *holdfast.Lease) error {
			prints = append(prints, l.Fingerprint()+"/"+strconv.FormatInt(l.Token(), 10))
			return nil
		})
		if err != nil {
			return say(err)
		}
	}
	return strings.Join(prints, " ")
}

// say puts an error into one word, with the rest behind it.
func say(err error) string {
	word := "error"
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, holdfast.ErrLost), errors.Is(err, context.Canceled):
		word = "lost"
	case errors.Is(err, holdfast.ErrHeld):
		word = "held"
	}
	return word + " " + strings.ReplaceAll(err.Error(), "\n", " ")
}

// process is a puppet seen from the case.
type process struct {
	w   *world
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// process starts a client in a process of its own, which dies with the case.
func (w *world) process() *process {
	w.Helper()
	p, err := w.processWith(nil)
	if err != nil {
		w.Fatal(err)
	}
	return p
}

func (w *world) processWith(attr *syscall.SysProcAttr) (*process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{w: w, cmd: exec.Command(exe)}
	p.cmd.Env = append(os.Environ(), puppetDir+"="+w.dir)
	p.cmd.Stderr = os.Stderr
	p.cmd.SysProcAttr = attr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	w.Cleanup(p.kill)
	return p, nil
}

// send gives a request without waiting for the answer.
func (p *process) send(format string, args ...any) {
	p.w.Helper()
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		p.w.Fatal(err)
	}
}

// answer is what the process said to the oldest request without one.
func (p *process) answer() string {
	p.w.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.w.Fatalf("the process gave no answer: %v", err)
	}
	return strings.TrimSpace(line)
}

// ask gives a request and returns the first word of the answer.
func (p *process) ask(format string, args ...any) string {
	p.w.Helper()
	p.send(format, args...)
	word, _, _ := strings.Cut(p.answer(), " ")
	return word
}

// must gives a request that has to succeed.
func (p *process) must(format string, args ...any) {
	p.w.Helper()
	p.send(format, args...)
	if a := p.answer(); a != "ok" {
		p.w.Fatalf("%s: %s", fmt.Sprintf(format, args...), a)
	}
}

func (p *process) signal(s syscall.Signal) {
	p.w.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.w.Error(err)
	}
}

func (p *process) freeze() { p.signal(syscall.SIGSTOP) }
func (p *process) thaw()   { p.signal(syscall.SIGCONT) }

// kill ends the process at once and waits for it. Again it does nothing.
func (p *process) kill() {
	p.w.Helper()
	if p.cmd.ProcessState == nil {
		p.signal(syscall.SIGKILL)
		_ = p.cmd.Wait() // reports the signal
	}
}
