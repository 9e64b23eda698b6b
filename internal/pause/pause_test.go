//go:build unix

// Package pause shows what happens to a holder whose process is stopped past its
// deadline, with real processes: the pause that garbage collectors, hypervisors
// and operators make, and that no timer in the process can notice.
package pause

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/store/sqlitestore"
)

// The test binary runs itself as the holders that are stopped. The variable says
// so, and gives the folder and the name.
const holderEnv = "HOLDFAST_PAUSE_HOLDER"

func TestMain(m *testing.M) {
	if arg := os.Getenv(holderEnv); arg != "" {
		dir, name, _ := strings.Cut(arg, "|")
		if err := hold(dir, name); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// holderTTL leaves time to stop the holder before its first renewal: one that is
// stopped in the middle of a write to the database stops everybody in its folder.
const holderTTL = 2 * time.Second

// hold takes the lock and then asks, as fast as it can, whether it still has it,
// until it is told no. It reports the last instant at which a question began
// that was answered by yes, and then does what a careless program would: it
// writes with its old token, and unlocks.
func hold(dir, name string) error {
	c, err := sqlitestore.Open(context.Background(), "sqlite:"+dir, nil)
	if err != nil {
		return err
	}
	defer c.Close(context.Background())
	l, err := c.Mutex(name, &holdfast.MutexOptions{TTL: holderTTL}).Lock(context.Background())
	if err != nil {
		return err
	}
	fmt.Println("held", l.Token())
	ctx := l.Context()
	last := map[string]int64{}
	ask := func(how string, held func() bool) bool {
		began := monotonic()
		if !held() {
			return false
		}
		last[how] = began
		return true
	}
	for all := true; all; {
		all = ask("Err", func() bool { return ctx.Err() == nil })
		all = ask("Check", func() bool { return l.Check() == nil }) && all
		all = ask("Cause", func() bool { return context.Cause(ctx) == nil }) && all
	}
	fmt.Println("ended", last["Err"], last["Check"], last["Cause"], errors.Is(context.Cause(ctx), holdfast.ErrLost))
	fmt.Println("write", l.Token())
	fmt.Println("unlocked", errors.Is(l.Unlock(), holdfast.ErrLost))
	return nil
}

// resource accepts a write unless it has seen a greater token.
type resource struct {
	highest  int64
	accepted int
}

func (r *resource) write(token int64) bool {
	if token < r.highest {
		return false
	}
	r.highest = token
	r.accepted++
	return true
}

// Stopped past its deadline while another takes the lock, and continued, a
// holder never again says that it holds it, whatever GOMAXPROCS is. The second
// holder keeps the lock, and a resource that checks tokens accepts nothing stale.
func TestStoppedHolder(t *testing.T) {
	for _, procs := range []int{1, 2} {
		t.Run(fmt.Sprintf("GOMAXPROCS=%d", procs), func(t *testing.T) {
			const rounds, batch = 50, 25
			for first := 0; first < rounds; first += batch {
				var wg sync.WaitGroup
				for i := first; i < first+batch; i++ {
					wg.Go(func() { stopOne(t, t.TempDir(), fmt.Sprintf("k:%d:%d", procs, i), procs) })
				}
				wg.Wait()
			}
		})
	}
}

func stopOne(t *testing.T, dir, name string, procs int) {
	h := start(t, dir, name, procs)
	var disk resource
	if !disk.write(h.number("held", 0)) {
		t.Error("the first write was refused")
	}
	h.signal(syscall.SIGSTOP)

	c, err := sqlitestore.Open(context.Background(), "sqlite:"+dir, nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close(context.Background())
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	second, err := c.Mutex(name, nil).Lock(ctx)
	taken := monotonic()
	if err != nil {
		t.Errorf("the lock of a stopped holder did not become free: %v", err)
		return
	}
	disk.write(second.Token())

	h.signal(syscall.SIGCONT)
	ended := h.line("ended")
	for i, how := range []string{"Context().Err", "Check", "context.Cause"} {
		if said := parse(t, ended[i]); said > taken {
			t.Errorf("%s: %s said held %v after another had the lock", name, how, time.Duration(said-taken))
		}
	}
	if ended[3] != "true" {
		t.Errorf("%s: the context's cause is not ErrLost", name)
	}
	if disk.write(h.number("write", 0)) {
		t.Errorf("%s: the resource accepted a stale write", name)
	}
	if h.line("unlocked")[0] != "true" {
		t.Errorf("%s: Unlock of the stopped holder did not say ErrLost", name)
	}
	h.wait()
	if err := second.Check(); err != nil {
		t.Errorf("%s: the second holder: %v", name, err)
	}
	if now, err := c.Holder(ctx, name); err != nil || now.Fingerprint != second.Fingerprint() {
		t.Errorf("%s: the second holder no longer has the lock in the store: %v", name, err)
	}
	if err := second.Unlock(); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// holder is a process that holds a lock.
type holder struct {
	t   *testing.T
	cmd *exec.Cmd
	out *bufio.Scanner
}

func start(t *testing.T, dir, name string, procs int) *holder {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holderEnv+"="+dir+"|"+name, "GOMAXPROCS="+strconv.Itoa(procs))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return &holder{t: t, cmd: cmd, out: bufio.NewScanner(out)}
}

// line reads the holder's next line, which must begin with word, and returns the
// rest. It runs in the goroutine of one round, so a failure cannot be fatal.
func (h *holder) line(word string) []string {
	if !h.out.Scan() {
		h.t.Errorf("the holder ended before it said %q", word)
		return make([]string, 4)
	}
	fields := strings.Fields(h.out.Text())
	if fields[0] != word {
		h.t.Errorf("the holder said %q, want %q", h.out.Text(), word)
		return make([]string, 4)
	}
	return fields[1:]
}

func (h *holder) number(word string, i int) int64 { return parse(h.t, h.line(word)[i]) }

func (h *holder) signal(s syscall.Signal) {
	if err := h.cmd.Process.Signal(s); err != nil {
		h.t.Error(err)
	}
}

func (h *holder) wait() {
	if err := h.cmd.Wait(); err != nil {
		h.t.Errorf("the holder failed: %v", err)
	}
}

func parse(t *testing.T, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Errorf("%q is no number", s)
	}
	return n
}
