package sqlitestore

import (
	"crypto/rand"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// place is a state folder. In it are
//
//	locks.db, locks.db-wal, locks.db-shm   the database
//	client-ID                              locked while the client lives
//	wake-XX                                closed by whoever frees a name
type place struct {
	dir    string // absolute
	shared bool
}

// sharedMode is what root gives the shared folder when it makes it. New files
// belong to the folder's group, whose members trust each other with all locks:
// each can read and write the database. The folder is not sticky, since that
// would keep one user from opening what another has made.
const sharedMode = 0o770 | fs.ModeSetgid

func (p place) database() string { return filepath.Join(p.dir, "locks.db") }

// fileMode is the mode of the files inside.
func (p place) fileMode() fs.FileMode {
	if !p.shared {
		return 0o600
	}
	i, err := os.Stat(p.dir)
	if err != nil {
		return 0o660
	}
	return 0o600 | i.Mode()&0o066
}

// prepare makes the folder and refuses one that is not safe to use.
func (p place) prepare() error {
	if err := supported(); err != nil {
		return err
	}
	if err := p.checkLocal(); err != nil {
		return err
	}
	if err := p.make(); err != nil {
		return err
	}
	i, err := os.Stat(p.dir)
	if err != nil {
		return err
	}
	if !i.IsDir() {
		return fmt.Errorf("%w: %s is a file: name a folder", driver.ErrRefused, p.dir)
	}
	return p.checkRights(i)
}

func (p place) make() error {
	if !p.shared {
		return os.MkdirAll(p.dir, 0o700)
	}
	err := os.Mkdir(p.dir, 0o700)
	switch {
	case err == nil:
		return os.Chmod(p.dir, sharedMode) // whatever the umask
	case errors.Is(err, fs.ErrExist):
		return nil
	}
	return fmt.Errorf("%w: %w: ask root to run: install -d -m 2770 -g GROUP %s", driver.ErrRefused, err, p.dir)
}

func (p place) checkRights(i fs.FileInfo) error {
	if p.shared {
		return p.checkShared(i)
	}
	if uid := ownerOf(i); uid != os.Geteuid() {
		return fmt.Errorf("%w: %s belongs to user %d, this is user %d: use a folder of your own, or make it a shared one (Options.System, sqlite:/path?system=true)", driver.ErrRefused, p.dir, uid, os.Geteuid())
	}
	if m := i.Mode().Perm(); m&0o022 != 0 {
		return fmt.Errorf("%w: %s has mode %#o, so that others could break its locks: chmod go-w it, or share it (Options.System, sqlite:/path?system=true)", driver.ErrRefused, p.dir, m)
	}
	return nil
}

// checkShared refuses modes in which users would lock each other out by files
// that the next one cannot open.
func (p place) checkShared(i fs.FileInfo) error {
	m := i.Mode()
	switch {
	case m&fs.ModeSticky != 0:
		return fmt.Errorf("%w: %s is sticky, so that users could not open each other's files: chmod -t it", driver.ErrRefused, p.dir)
	case m&0o022 == 0o020 && m&fs.ModeSetgid == 0:
		return fmt.Errorf("%w: %s does not pass its group on to new files: chmod g+s it", driver.ErrRefused, p.dir)
	}
	return nil
}

// checkLocal looks at the folder, or at where it will be made.
func (p place) checkLocal() error {
	dir := p.dir
	kind, err := distantType(dir)
	for err != nil && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		kind, err = distantType(dir)
	}
	if err != nil {
		return &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	if kind != "" {
		return fmt.Errorf("%w: %s is on %s, where machines do not see each other's file locks: choose a folder on a local disk, or a store with a server", driver.ErrRefused, p.dir, kind)
	}
	return nil
}

// createDatabase makes an empty database file unless there is one, and returns
// what is there. It appears with its final rights, and without ever being open
// in this process outside SQLite, whose locks a close of ours would drop.
func (p place) createDatabase() (fs.FileInfo, error) {
	path := p.database()
	i, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := p.link(path); err != nil {
			return nil, err
		}
		i, err = os.Lstat(path)
	}
	if err == nil && !i.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is not a regular file: remove it", driver.ErrRefused, path)
	}
	return i, err
}

func (p place) link(path string) error {
	f, err := p.create("new-" + rand.Text())
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// create makes a new file with the rights of the place.
func (p place) create(name string) (*os.File, error) {
	mode := p.fileMode()
	f, err := os.OpenFile(filepath.Join(p.dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, mode)
	if err != nil {
		return nil, err
	}
	if p.shared {
		err = f.Chmod(mode) // whatever the umask
	}
	if err != nil {
		_ = f.Close()
		_ = os.Remove(f.Name())
		return nil, err
	}
	return f, nil
}

// buckets is how many files carry signals. Names that share one wake each
// other's waiters for nothing, which costs them a look.
const buckets = 64

// bucket is the file that is touched when name may be free.
func bucket(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return fmt.Sprintf("wake-%02x", h.Sum32()%buckets)
}

// touch closes a file that was open for writing, which is what watches see.
// Watches are a help, so that failing is no error.
func (p place) touch(name string) {
	f, err := os.OpenFile(filepath.Join(p.dir, name), os.O_WRONLY|noFollow, 0)
	if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(name, "wake-") {
		f, err = p.create(name)
		if errors.Is(err, fs.ErrExist) {
			f, err = os.OpenFile(filepath.Join(p.dir, name), os.O_WRONLY|noFollow, 0)
		}
	}
	if err == nil {
		_ = f.Close()
	}
}
