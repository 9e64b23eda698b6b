//go:build linux

package sqlitestore_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// unshare returns a command line that runs a program in new namespaces. These
// tests are about the promise that namespaces do not break locks, so a machine
// that has none cannot pass them.
func unshare(t *testing.T, flags ...string) []string {
	t.Helper()
	args := append([]string{"unshare", "--fork", "--kill-child"}, flags...)
	if os.Geteuid() != 0 {
		args = append(args, "--user", "--map-root-user")
	}
	if out, err := exec.Command(args[0], append(args[1:], "true")...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v: %s: install util-linux 2.36 or later, and run as root or allow user namespaces", args, err, out)
	}
	return args
}

// TestTimeNamespace: a clock that runs a day ahead or behind sees live locks as
// live, from both sides.
func TestTimeNamespace(t *testing.T) {
	for _, shift := range []string{"100000", "-30"} {
		t.Run(shift, func(t *testing.T) {
			dir := folder(t)
			s := open(t, dir)
			p := start(t, dir, unshare(t, "--time", "--monotonic", shift)...)
			take(t, s, "ours", time.Hour)
			p.want("busy 1h0m0s", "try ours 1m")
			p.want("ok", "try theirs 1h")
			if b := refused(t, s, "theirs"); b.Left.Round(time.Minute) != time.Hour {
				t.Errorf("a fresh hold of 1h has %v left", b.Left)
			}
		})
	}
}

// TestTimeNamespaceExpiry: and expired ones as expired.
func TestTimeNamespaceExpiry(t *testing.T) {
	dir := folder(t)
	s := open(t, dir)
	p := start(t, dir, unshare(t, "--time", "--monotonic", "100000")...)
	p.want("ok", "try n 200ms")
	if _, err := obtain(within(t, 10*time.Second), s, request("n", 200*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	p.want("ok", "lock n 1h")
	refused(t, s, "n")
}

// TestB015: two processes that cannot see each other's pid, or have the same.
func TestB015(t *testing.T) {
	dir := folder(t)
	a := start(t, dir, unshare(t, "--pid")...)
	b := start(t, dir, unshare(t, "--pid")...) // both are process 1
	c := open(t, dir)
	a.want("ok", "try n 1h")
	b.want("busy 1h0m0s", "try n 1m")
	refused(t, c, "n")
	a.kill()
	b.want("ok", "lock n 1h")
	refused(t, c, "n")
	b.kill()
	if _, err := obtain(within(t, 5*time.Second), c, request("n", time.Minute)); err != nil {
		t.Fatal(err)
	}
}

func TestFullDisk(t *testing.T) {
	// The folder is on a file system of 400 kB that only the other process sees.
	dir := t.TempDir()
	through := append(unshare(t, "--mount"), "sh", "-ec",
		`mount -t tmpfs -o size=400k,mode=0700 none "$1"; shift; exec "$@"`, "sh", dir)
	p := start(t, dir, through...)
	// Some names fit. The error is clear, and what is held can still be released.
	full := "error store refused for now: " + filepath.Join(dir, "locks.db") + ": the disk is full: free some space"
	p.want(full, "fill 1000")
	p.want("ok", "release %01000d", 0)
	p.want(full, "fill 1000")
}

func TestDistantFileSystem(t *testing.T) {
	dir := t.TempDir()
	through := append(unshare(t, "--mount"), "sh", "-ec",
		`exec 3<>/dev/fuse; mount -i -t fuse -o fd=3,rootmode=040000,user_id=1,group_id=1 none "$1"; shift; exec "$@"`, "sh", dir)
	p := start(t, filepath.Join(dir, "a", "b"), through...)
	p.want("error store refused: "+filepath.Join(dir, "a", "b")+" is on FUSE", "ping")
}
