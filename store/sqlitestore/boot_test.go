//go:build linux || darwin || freebsd

package sqlitestore_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// reboot makes every hold in dir look like one of another boot.
func reboot(t *testing.T, dir string) {
	t.Helper()
	run(t, filepath.Join(dir, "locks.db"), "UPDATE holds SET boot = 'another', expires = 1 + length(name)")
}

// TestRebootFreesAtOnce: the client's process ended with its boot.
func TestRebootFreesAtOnce(t *testing.T) {
	dir := folder(t)
	p, s := start(t, dir), open(t, dir)
	p.want("ok", "try n 1h")
	reboot(t, dir)
	p.kill()
	take(t, s, "n", time.Minute)
}

// TestOtherBootIsWatched: a hold of another boot whose client seems to live, as
// in a folder that virtual machines share, is respected until it has not changed
// for its whole life.
func TestOtherBootIsWatched(t *testing.T) {
	dir := folder(t)
	p, s := start(t, dir), open(t, dir)
	p.want("ok", "try n 600ms")
	reboot(t, dir)
	began := time.Now()
	refused(t, s, "n")
	// A renewal begins the watch anew.
	if !watchFor(t, s, 300*time.Millisecond) {
		t.Fatalf("it was granted after %v of 600ms", time.Since(began))
	}
	run(t, filepath.Join(dir, "locks.db"), "UPDATE holds SET expires = expires + 1")
	renewed := time.Now()
	if _, err := obtain(within(t, 10*time.Second), s, request("n", time.Minute)); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(renewed); d < 600*time.Millisecond {
		t.Errorf("it was granted %v after a renewal, want 600ms at least", d)
	}
}

// watchFor reports whether n stays taken for d.
func watchFor(t *testing.T, s driver.Store, d time.Duration) bool {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); <-time.After(5 * time.Millisecond) {
		_, err := s.Try(t.Context(), request("n", time.Minute))
		var b *driver.Busy
		if !errors.As(err, &b) {
			return false
		}
	}
	return true
}

// TestRestSurvivesReboot: nobody knows how much of a rest was left.
func TestRestSurvivesReboot(t *testing.T) {
	dir := folder(t)
	p, s := start(t, dir), open(t, dir)
	p.want("ok", "try n 1h")
	p.want("ok", "rest n 500ms")
	p.kill()
	reboot(t, dir)
	began := time.Now()
	if b := refused(t, s, "n"); !b.Resting {
		t.Errorf("Try said %+v, want a rest", b)
	}
	if _, err := obtain(within(t, 10*time.Second), s, request("n", time.Minute)); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d < 500*time.Millisecond {
		t.Errorf("it was granted after %v of 500ms", d)
	}
}

// TestRestSurvivesClient: a short job is over long before its rest is.
func TestRestSurvivesClient(t *testing.T) {
	dir := folder(t)
	p, s := start(t, dir), open(t, dir)
	p.want("ok", "try n 1h")
	p.want("ok", "rest n 1h")
	p.kill()
	if b := refused(t, s, "n"); !b.Resting {
		t.Errorf("Try said %+v, want a rest", b)
	}
	hs, err := s.Inspect(t.Context(), "n")
	if err != nil || len(hs) != 1 || !hs[0].Resting {
		t.Errorf("Inspect shows %+v, %v: want the rest", hs, err)
	}
}
