//go:build linux || darwin || freebsd

package sqlitestore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/store/sqlitestore"
)

func newOwner() string {
	return fmt.Sprintf("00000000-0000-4000-8000-%012d:%d", os.Getpid(), rand.Int64())
}

// open returns a Store in dir that ends with the test.
func open(t testing.TB, dir string) *sqlitestore.Store {
	t.Helper()
	s := newStore(t, dir)
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func folder(t testing.TB) string { return filepath.Join(t.TempDir(), "locks") }

// within bounds a test whose failure would be to wait for an hour.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// refused returns the answer to a Try that must not succeed.
func refused(t testing.TB, s *sqlitestore.Store, name string) *driver.Busy {
	t.Helper()
	_, err := s.Try(t.Context(), request(name, time.Minute))
	var b *driver.Busy
	if !errors.As(err, &b) {
		t.Fatalf("Try of a held name: %v", err)
	}
	return b
}

// take must succeed at once.
func take(t testing.TB, s *sqlitestore.Store, name string, ttl time.Duration) driver.Grant {
	t.Helper()
	g, err := s.Try(t.Context(), request(name, ttl))
	if err != nil {
		t.Fatalf("Try of a free name: %v", err)
	}
	return g
}

// waiters blocks until n clients wait for name.
func waiters(t testing.TB, s *sqlitestore.Store, name string, n int) {
	t.Helper()
	until(t, func() bool {
		hs, err := s.Inspect(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return len(hs) == 1 && hs[0].Waiters == n
	})
}

// until polls for a condition.
func until(t testing.TB, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for ctx := within(t, 30*time.Second); !ok(); {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("it did not come to pass")
		}
	}
}

func TestKillFreesAtOnce(t *testing.T) {
	dir := folder(t)
	a, b := start(t, dir), open(t, dir)
	b.NeverLook()
	a.want("ok", "try n 1h")
	refused(t, b, "n")
	done := make(chan error)
	go func() {
		_, err := obtain(within(t, 5*time.Second), b, request("n", time.Minute))
		done <- err
	}()
	waiters(t, b, "n", 1)
	a.kill()
	if err := <-done; err != nil {
		t.Fatalf("the waiter was told: %v", err)
	}
}

func TestTryAfterKill(t *testing.T) {
	dir := folder(t)
	a, b := start(t, dir), open(t, dir)
	a.want("ok", "try n 1h")
	a.want("ok", "try m 1h")
	a.kill()
	take(t, b, "n", time.Minute)
	hs, err := b.Inspect(t.Context(), "")
	if err != nil || len(hs) != 1 {
		t.Errorf("Inspect shows %+v, %v: want nothing of the dead", hs, err)
	}
	if left := files(t, dir, "client-"); len(left) != 1 {
		t.Errorf("liveness files %q are left, want the living client's only", left)
	}
}

func TestInspectAfterKill(t *testing.T) {
	dir := folder(t)
	a, b, s := start(t, dir), start(t, dir), open(t, dir)
	a.want("ok", "try n 1h")
	take(t, s, "m", time.Hour)
	b.send("lock m 1h")
	waiters(t, s, "m", 1)
	a.kill()
	b.kill()
	hs, err := s.Inspect(t.Context(), "")
	if err != nil || len(hs) != 1 || hs[0].Name != "m" || hs[0].Waiters != 0 {
		t.Errorf("Inspect shows %+v, %v: want the living client's hold, and nobody waiting", hs, err)
	}
}

// TestUsersShare: users of one group exclude each other, and each frees what the
// other's death left.
func TestUsersShare(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	top := t.TempDir()
	dir := filepath.Join(top, "shared")
	if err := errors.Join(os.Chmod(filepath.Dir(top), 0o755), os.Chmod(top, 0o755),
		os.Mkdir(dir, 0o700), os.Chown(dir, 0, nobody), os.Chmod(dir, 0o770|os.ModeSetgid)); err != nil {
		t.Fatal(err)
	}
	for _, rootFirst := range []bool{true, false} {
		root, user := start(t, dir), start(t, dir)
		user.want("ok", "setuid")
		a, b := root, user
		if !rootFirst {
			a, b = user, root
		}
		a.want("ok", "try n 1h")
		b.want("busy", "try n 1m")
		b.send("lock n 1h")
		a.kill()
		if got := b.answer(); got != "ok" {
			t.Errorf("with root first (%v), the other was told %q", rootFirst, got)
		}
		b.want("ok", "release n")
		b.end()
	}
}

// TestRemovedClient: somebody who cleans up too much does not break a client.
func TestRemovedClient(t *testing.T) {
	dir := folder(t)
	s := open(t, dir)
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	run(t, filepath.Join(dir, "locks.db"), "DELETE FROM clients")
	g := take(t, s, "n", time.Hour)
	other := open(t, dir)
	b := refused(t, other, "n")
	if err := renew(t, s, g.Hold); err != nil {
		t.Error(err)
	}
	// The next one removed waits.
	run(t, filepath.Join(dir, "locks.db"), "DELETE FROM clients WHERE id NOT IN (SELECT client FROM holds)")
	if err := other.Wait(t.Context(), request("n", time.Minute), b); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- other.Wait(ctx, request("n", time.Minute), b) }()
	waiters(t, s, "n", 1)
	cancel()
	<-done
}

func files(t testing.TB, dir, prefix string) []string {
	t.Helper()
	m, err := filepath.Glob(filepath.Join(dir, prefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestChildKeepsLock(t *testing.T) {
	dir := folder(t)
	a, b := start(t, dir), open(t, dir)
	a.want("ok", "try n 1h")
	pid, err := strconv.Atoi(a.ask("spawn"))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	a.kill()
	b.NeverLook()
	refused(t, b, "n")
	done := make(chan error)
	go func() {
		_, err := obtain(within(t, 5*time.Second), b, request("n", time.Minute))
		done <- err
	}()
	waiters(t, b, "n", 1)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatalf("the waiter was told: %v", err)
	}
}

// TestChildIsBoundByTTL: nobody renews for a child.
func TestChildIsBoundByTTL(t *testing.T) {
	dir := folder(t)
	a, b := start(t, dir), open(t, dir)
	a.want("ok", "try n 300ms")
	pid, err := strconv.Atoi(a.ask("spawn"))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	a.kill()
	if _, err := obtain(within(t, 10*time.Second), b, request("n", time.Minute)); err != nil {
		t.Fatal(err)
	}
}

func TestCloseKeepsHolds(t *testing.T) {
	dir := folder(t)
	a, b := newStore(t, dir), open(t, dir)
	take(t, a, "n", 500*time.Millisecond)
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	refused(t, b, "n")
	if _, err := obtain(within(t, 10*time.Second), b, request("n", time.Minute)); err != nil {
		t.Error(err)
	}
}

const nobody = 65534

func TestFiftyOpenAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b", "locks")
	var ps []*process
	for range 50 {
		ps = append(ps, start(t, dir))
	}
	for _, p := range ps {
		p.send("ping")
	}
	for _, p := range ps {
		if got := p.answer(); got != "ok" {
			t.Errorf("opening was answered %q", got)
		}
	}
	if left := files(t, dir, "new-"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestCounter(t *testing.T) {
	dir := folder(t)
	file := filepath.Join(t.TempDir(), "counter")
	if err := os.WriteFile(file, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	const procs, times = 8, 50
	var ps []*process
	for range procs {
		p := start(t, dir)
		p.send("count %s %d", file, times)
		ps = append(ps, p)
	}
	for _, p := range ps {
		if got := p.answer(); got != "ok" {
			t.Fatal(got)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil || string(b) != fmt.Sprint(procs*times) {
		t.Errorf("the counter is %s, %v: want %d", b, err, procs*times)
	}
}

// TestWaitersSleep counts the CPU time of fifty processes that wait.
func TestWaitersSleep(t *testing.T) {
	dir := folder(t)
	s := open(t, dir)
	take(t, s, "n", time.Hour)
	var ps []*process
	for range 50 {
		p := start(t, dir)
		p.send("lock n 1h")
		ps = append(ps, p)
	}
	waiters(t, s, "n", len(ps))
	before := cpu(t, ps)
	<-time.After(3 * time.Second)
	used := cpu(t, ps) - before
	t.Logf("%d waiters used %v of CPU time in 3 s", len(ps), used)
	if used > time.Second {
		t.Errorf("%d waiters used %v of CPU time in 3 s", len(ps), used)
	}
	for _, p := range ps {
		p.kill()
	}
}

// cpu is the time that the processes have run.
func cpu(t *testing.T, ps []*process) time.Duration {
	t.Helper()
	var ticks int64
	for _, p := range ps {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
		if err != nil {
			t.Skipf("needs /proc to read the CPU time of processes: %v", err)
		}
		_, after, _ := strings.Cut(string(b), ") ")
		f := strings.Fields(after)
		for _, s := range f[11:13] { // utime, stime
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			ticks += n
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
