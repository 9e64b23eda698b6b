package sqlitestore

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/holdfast-go/holdfast/driver"
	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// code returns SQLite's primary result code of err, or 0.
func code(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

func isBusy(err error) bool {
	c := code(err)
	return c == codes.SQLITE_BUSY || c == codes.SQLITE_LOCKED
}

// explain puts what SQLite said about the file at path, before a commit, into
// the words of the contract. Other errors pass.
func explain(path string, err error) error {
	switch code(err) {
	case 0:
		return err
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		return fmt.Errorf("%w: %s: %w: stop what uses it, then move the folder away; all locks in it end", driver.ErrCorrupt, path, err)
	case codes.SQLITE_FULL:
		return fmt.Errorf("%w %w: %s: the disk is full: free some space: %w", driver.ErrRefused, driver.ErrTemporary, path, err)
	case codes.SQLITE_READONLY, codes.SQLITE_PERM, codes.SQLITE_AUTH:
		return fmt.Errorf("%w: %s cannot be written: give this user the right to, or choose another folder: %w", driver.ErrRefused, path, err)
	case codes.SQLITE_CANTOPEN:
		return fmt.Errorf("%w: %s cannot be opened: check its rights and those of its folder: %w", driver.ErrRefused, path, err)
	case codes.SQLITE_CONSTRAINT: // our own row is gone
		return fmt.Errorf("%w: %s: this client was removed from it: %w", errReplaced, path, err)
	case codes.SQLITE_IOERR, codes.SQLITE_NOMEM, codes.SQLITE_BUSY, codes.SQLITE_LOCKED, codes.SQLITE_INTERRUPT:
		return fmt.Errorf("%w: %s: %w", driver.ErrUnavailable, path, err)
	}
	return fmt.Errorf("%w: %s: %w", driver.ErrRefused, path, err)
}

// explainCommit does so for a commit: where the disk failed, nobody knows
// whether it is done.
func explainCommit(path string, err error) error {
	if code(err) == codes.SQLITE_IOERR {
		return fmt.Errorf("%w: %s: %w", driver.ErrUnknown, path, err)
	}
	return explain(path, err)
}

// explainFile does so for an error of the file system, which names its path.
func explainFile(err error) error {
	switch {
	case errors.Is(err, driver.ErrRefused), errors.Is(err, driver.ErrUnavailable):
		return err
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: %w: give this user the right to write there, or choose another folder", driver.ErrRefused, err)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w %w: %w: free some space", driver.ErrRefused, driver.ErrTemporary, err)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("%w: %w: raise the limit of open files", driver.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: %w: choose another folder", driver.ErrRefused, err)
}
