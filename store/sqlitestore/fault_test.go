//go:build linux || darwin || freebsd

package sqlitestore_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/store/sqlitestore"
)

// run changes a database behind the store's back.
func run(t testing.TB, path, script string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
}

// TestUnusable: what is wrong with a folder is one clear error, and nothing in
// the folder is changed by it.
func TestUnusable(t *testing.T) {
	for name, c := range map[string]struct {
		break_ func(t *testing.T, dir, db string)
		want   error
		says   string
	}{
		"garbage": {
			func(t *testing.T, _, db string) { write(t, db, strings.Repeat("garbage ", 1000)) },
			driver.ErrCorrupt, "move the folder away",
		},
		"torn": {
			func(t *testing.T, dir, db string) {
				closeStore(t, used(t, dir))
				b, err := os.ReadFile(db)
				if err != nil {
					t.Fatal(err)
				}
				write(t, db, string(b[:1000])+strings.Repeat("?", len(b)-1000))
			},
			driver.ErrCorrupt, "move the folder away",
		},
		"foreign": {
			func(t *testing.T, _, db string) { run(t, db, "CREATE TABLE customers (id)") },
			driver.ErrRefused, "belongs to another program",
		},
		"marked": {
			func(t *testing.T, _, db string) { run(t, db, "PRAGMA application_id = 7") },
			driver.ErrRefused, "belongs to another program",
		},
		"newer": {
			func(t *testing.T, dir, db string) {
				closeStore(t, used(t, dir))
				run(t, db, "PRAGMA user_version = 99")
			},
			driver.ErrRefused, "has format 99, this program knows 1: update it",
		},
		"folder for a file": {
			func(t *testing.T, _, db string) { mkdir(t, db, 0o700) },
			driver.ErrRefused, "is not a regular file: remove it",
		},
		"link": {
			func(t *testing.T, dir, db string) {
				if err := os.Symlink(filepath.Join(dir, "elsewhere"), db); err != nil {
					t.Fatal(err)
				}
			},
			driver.ErrRefused, "is not a regular file: remove it",
		},
		"file for a folder": {
			func(t *testing.T, dir, _ string) {
				if err := os.Remove(dir); err != nil {
					t.Fatal(err)
				}
				write(t, dir, "")
			},
			driver.ErrRefused, "not a directory: choose another folder",
		},
		"writable by all": {
			func(t *testing.T, dir, _ string) { chmod(t, dir, 0o777) },
			driver.ErrRefused, "chmod go-w it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			mkdir(t, dir, 0o700)
			db := filepath.Join(dir, "locks.db")
			c.break_(t, dir, db)
			before, _ := os.ReadFile(db)
			s := open(t, dir)
			_, err := s.Try(t.Context(), request("n", time.Minute))
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), dir) {
				t.Errorf("Try said %v: want %v, the path, and %q", err, c.want, c.says)
			}
			if after, _ := os.ReadFile(db); string(after) != string(before) {
				t.Error("the file was changed")
			}
			if left := append(files(t, dir, "client-"), files(t, dir, "new-")...); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// used returns a store that has made its folder.
func used(t *testing.T, dir string) *sqlitestore.Store {
	t.Helper()
	s := newStore(t, dir)
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func closeStore(t *testing.T, s *sqlitestore.Store) {
	t.Helper()
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	chmod(t, path, mode)
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// TestReadOnly needs another user than root, whom no mode stops.
func TestReadOnly(t *testing.T) {
	for name, c := range map[string]struct {
		lock func(t *testing.T, dir string)
		says string
	}{
		"folder": {func(t *testing.T, dir string) { chmod(t, dir, 0o500) }, "permission denied: give this user the right to write there"},
		"file":   {func(t *testing.T, dir string) { chmod(t, filepath.Join(dir, "locks.db"), 0o400) }, "cannot be written: give this user the right to"},
		"parent": {func(t *testing.T, dir string) {
			chmod(t, filepath.Dir(dir), 0o500)
			if err := os.RemoveAll(dir); err != nil && os.Geteuid() == 0 {
				t.Fatal(err)
			}
		}, "permission denied: give this user the right to write there"},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			parent := filepath.Join(top, "parent")
			mkdir(t, parent, 0o700)
			dir := filepath.Join(parent, "locks")
			p := start(t, dir)
			if os.Geteuid() == 0 {
				chmod(t, filepath.Dir(top), 0o755)
				chmod(t, top, 0o755)
				chown(t, parent)
				p.want("ok", "setuid")
			}
			if name != "parent" {
				p.want("ok", "try n 1m")
				p.want("ok", "release n")
				p.want("ok", "reopen")
			}
			c.lock(t, dir)
			t.Cleanup(func() { _ = os.Chmod(parent, 0o700); _ = os.Chmod(dir, 0o700) })
			got := p.ask("try n 1m")
			if !strings.HasPrefix(got, "error store refused: ") || !strings.Contains(got, c.says) {
				t.Errorf("Try said %q: want %q", got, c.says)
			}
		})
	}
}

func chown(t *testing.T, path string) {
	t.Helper()
	if err := os.Chown(path, nobody, nobody); err != nil {
		t.Fatal(err)
	}
}

func TestForeignFolder(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a folder of another user")
	}
	dir := folder(t)
	mkdir(t, dir, 0o700)
	chown(t, dir)
	_, err := open(t, dir).Try(t.Context(), request("n", time.Minute))
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "belongs to user 65534, this is user 0") {
		t.Errorf("Try said %v", err)
	}
}

// TestReplaced: whoever takes the folder or the database away takes the locks
// away. Their holders hear of it, and the store goes on in what is there now.
func TestReplaced(t *testing.T) {
	for name, replace := range map[string]func(t *testing.T, dir string){
		"folder deleted": func(t *testing.T, dir string) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		},
		"folder moved": func(t *testing.T, dir string) {
			if err := os.Rename(dir, dir+".old"); err != nil {
				t.Fatal(err)
			}
		},
		"database deleted": func(t *testing.T, dir string) {
			for _, f := range files(t, dir, "locks.db") {
				if err := os.Remove(f); err != nil {
					t.Fatal(err)
				}
			}
		},
		"folder replaced": func(t *testing.T, dir string) {
			if err := os.Rename(dir, dir+".old"); err != nil {
				t.Fatal(err)
			}
			closeStore(t, used(t, dir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			s := open(t, dir)
			g := take(t, s, "n", time.Hour)
			replace(t, dir)
			if err := renew(t, s, g.Hold); !errors.Is(err, driver.ErrGone) {
				t.Errorf("Renew said %v, want %v", err, driver.ErrGone)
			}
			next := take(t, s, "n", time.Hour)
			if next.Hold.Token <= g.Hold.Token {
				t.Errorf("token %d came after %d", next.Hold.Token, g.Hold.Token)
			}
			if err := renew(t, s, next.Hold); err != nil {
				t.Errorf("Renew in the new folder said %v", err)
			}
			refused(t, open(t, dir), "n")
		})
	}
}

// TestReplacedWhileWaiting: the waiter does not wait for what is not there.
func TestReplacedWhileWaiting(t *testing.T) {
	dir := folder(t)
	a, b := open(t, dir), open(t, dir)
	take(t, a, "n", time.Hour)
	done := make(chan error)
	go func() {
		_, err := obtain(within(t, 5*time.Second), b, request("n", time.Minute))
		done <- err
	}()
	waiters(t, a, "n", 1)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatalf("the waiter was told: %v", err)
	}
}

func renew(t testing.TB, s *sqlitestore.Store, h driver.Hold) (err error) {
	t.Helper()
	s.Renew(t.Context(), []driver.Hold{h}, func(_ int, _ driver.Validity, e error) { err = e })
	return err
}
