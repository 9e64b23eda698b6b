//go:build linux || darwin || freebsd

package sqlitestore

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

func TestURL(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/state")
	t.Setenv("HOME", "/home/ann")
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]place{
		"sqlite:":                       {dir: "/state/holdfast"},
		"sqlite:/a/b":                   {dir: "/a/b"},
		"sqlite:///a/b":                 {dir: "/a/b"},
		"sqlite:/a//b/../c/":            {dir: "/a/c"},
		"sqlite:a/b":                    {dir: filepath.Join(wd, "a/b")},
		"sqlite:.":                      {dir: wd},
		"sqlite:/a%20b/%3F%23%25":       {dir: "/a b/?#%"},
		"sqlite:system":                 {dir: filepath.Join(wd, "system")},
		"sqlite:?system=true":           {dir: "/var/lib/holdfast", shared: true},
		"sqlite:?system=false":          {dir: "/state/holdfast"},
		"sqlite:/srv/locks?system=true": {dir: "/srv/locks", shared: true},
	} {
		o, err := parse(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if got, err := o.place(); err != nil || got != want {
			t.Errorf("%s is %+v, %v: want %+v", url, got, err, want)
		}
	}
}

func TestBadURL(t *testing.T) {
	for url, says := range map[string]string{
		"redis:":                        "must start with sqlite:",
		"sqlite":                        "must start with sqlite:",
		"sqlite:/a#b":                   "write %23 for a #",
		"sqlite:~/locks":                `nothing expands ~ here`,
		"sqlite:/a?b=c":                 `unknown parameter "b": the only one is system`,
		"sqlite:?system":                "give it once, as true or false",
		"sqlite:?system=yes":            "give it once, as true or false",
		"sqlite:?system=true&system=no": "give it once, as true or false",
		"sqlite:?system=true;a=b":       "semicolon",
		"sqlite://host/a":               "write sqlite:/host/a",
		"sqlite:/a%zz":                  "write %25 for a %",
		"sqlite:/a%00":                  "zero byte",
	} {
		_, err := Open(t.Context(), url, nil)
		if !errors.Is(err, holdfast.ErrInvalid) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), url) {
			t.Errorf("Open(%q) said %v: want ErrInvalid, the URL, and %q", url, err, says)
		}
		if _, err := Describe(url); err == nil {
			t.Errorf("Describe(%q) has no error", url)
		}
	}
}

func TestUserFolder(t *testing.T) {
	for _, c := range []struct{ state, home, want string }{
		{"/state", "/home/ann", "/state/holdfast"},
		{"", "/home/ann", "/home/ann/.local/state/holdfast"},
		{"relative", "/home/ann", "/home/ann/.local/state/holdfast"},
		{"/state", "", "/state/holdfast"},
		{"", "", ""},
		{"", "relative", ""},
	} {
		t.Setenv("XDG_STATE_HOME", c.state)
		t.Setenv("HOME", c.home)
		p, err := (*Options)(nil).place()
		if p.dir != c.want {
			t.Errorf("with %+v the folder is %q, want %q", c, p.dir, c.want)
		}
		if c.want == "" && (!errors.Is(err, holdfast.ErrInvalid) || !strings.Contains(err.Error(), "--store") || !strings.Contains(err.Error(), "--system")) {
			t.Errorf("with %+v the error is %v: want the ways out", c, err)
		}
	}
}

func TestDescribe(t *testing.T) {
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"sqlite:/a":           "user " + u.Username + ", folder /a",
		"sqlite:?system=true": "this machine, folder /var/lib/holdfast",
	} {
		if got, err := Describe(url); err != nil || got != want {
			t.Errorf("Describe(%q) is %q, %v: want %q", url, got, err, want)
		}
	}
}

func TestPrivateModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "locks")
	s := testStore(t, dir)
	mustTry(t, s, "n", time.Minute)
	st, err := s.session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	st.store.place.touch(bucket("n"))
	mode(t, filepath.Dir(dir), fs.ModeDir|0o700)
	mode(t, dir, fs.ModeDir|0o700)
	entries(t, dir, 0o600)
}

func mode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	i, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if i.Mode() != want {
		t.Errorf("%s has mode %v, want %v", path, i.Mode(), want)
	}
}

// entries checks the mode of everything in dir.
func entries(t *testing.T, dir string, want fs.FileMode) {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(es) < 5 { // database, log, index, liveness, bucket
		t.Errorf("%s has only %v", dir, es)
	}
	for _, e := range es {
		mode(t, filepath.Join(dir, e.Name()), want)
	}
}

// TestSharedModes: whoever belongs to the folder's group can use every file,
// whatever the umask.
func TestSharedModes(t *testing.T) {
	for folder, file := range map[fs.FileMode]fs.FileMode{0: 0o660, 0o770 | fs.ModeSetgid: 0o660, 0o777: 0o666, 0o700: 0o600} {
		dir := filepath.Join(t.TempDir(), "locks")
		if folder != 0 {
			if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, folder)); err != nil {
				t.Fatal(err)
			}
		}
		s, err := NewStore(&Options{Dir: dir, System: true})
		if err != nil {
			t.Fatal(err)
		}
		mustTry(t, s, "n", time.Minute)
		s.place.touch(bucket("n"))
		if folder == 0 {
			mode(t, dir, fs.ModeDir|sharedMode)
		}
		entries(t, dir, file)
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestSharedRefused(t *testing.T) {
	for m, says := range map[fs.FileMode]string{
		0o777 | fs.ModeSticky:                 "chmod -t it",
		0o770 | fs.ModeSticky | fs.ModeSetgid: "chmod -t it",
		0o770:                                 "chmod g+s it",
	} {
		dir := t.TempDir()
		if err := os.Chmod(dir, m); err != nil {
			t.Fatal(err)
		}
		s, err := NewStore(&Options{Dir: dir, System: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Ping(t.Context()); !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), says) {
			t.Errorf("a folder of mode %v: %v, want %q", m, err, says)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	s, err := NewStore(&Options{Dir: filepath.Join(t.TempDir(), "a", "locks"), System: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "install -d -m 2770 -g GROUP") {
		t.Errorf("a folder that cannot be made: %v", err)
	}
}
