package sqlitestore

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// liveness is the file that tells whether a client lives. It is locked from
// before the client's first row to the end of the last process that has it open,
// be it a child that inherited it. An id is never used again.
type liveness struct {
	id   string
	file *os.File
}

func liveFile(id string) string { return "client-" + id }

// live makes this client's liveness file. Between its creation and its lock
// somebody may take it for a dead client's and remove it: then another is made.
func (p place) live() (*liveness, error) {
	for {
		id := strings.ToLower(rand.Text())
		f, err := p.create(liveFile(id))
		if err != nil {
			return nil, err
		}
		ok, err := lockExclusive(f)
		if err == nil && ok && inPlace(f) {
			return &liveness{id: id, file: f}, nil
		}
		_ = f.Close()
		if err != nil {
			return nil, err
		}
	}
}

// discard removes the file and ends the lock.
func (l *liveness) discard() {
	_ = os.Remove(l.file.Name())
	_ = l.file.Close()
}

// inPlace reports whether f is still what its path names.
func inPlace(f *os.File) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(a, b)
}

// deadClient is the liveness file of a client that is dead, locked so that nobody
// starts to live by it while the client's rows are removed. The lock is a shared
// one: several may see at once that a client is dead.
type deadClient struct {
	id   string
	file *os.File
}

// dead locks the client's file if the client is dead. It returns nil if it lives,
// or if that cannot be told. A file that is missing proves nothing, since whoever
// removes one in good order has removed the client's rows before.
func (p place) dead(id string) *deadClient {
	f, err := os.OpenFile(filepath.Join(p.dir, liveFile(id)), os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil
	}
	ok, err := lockShared(f)
	if err != nil || !ok || !inPlace(f) {
		_ = f.Close()
		return nil
	}
	return &deadClient{id: id, file: f}
}

// isDead reports whether the client is known to be dead.
func (p place) isDead(id string) bool {
	c := p.dead(id)
	if c == nil {
		return false
	}
	_ = c.file.Close()
	return true
}

// remove removes the file, after the client's rows.
func (c *deadClient) remove() {
	_ = os.Remove(c.file.Name())
	_ = c.file.Close()
}

// closed returns those of the clients that have no liveness file: a client has
// one before its row.
func (p place) closed(ids []string) []string {
	return slices.DeleteFunc(ids, func(id string) bool {
		_, err := os.Lstat(filepath.Join(p.dir, liveFile(id)))
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// ids lists the clients that have a liveness file.
func (p place) ids() ([]string, error) {
	entries, err := os.ReadDir(p.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutPrefix(e.Name(), "client-"); ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
