//go:build linux || darwin || freebsd

package sqlitestore

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// noFollow is for opening files in a folder that others may write to.
const noFollow = unix.O_NOFOLLOW

// lockShared and lockExclusive take a flock if that is possible at once. The
// lock belongs to the open file and is shared with children that inherit it.
func lockShared(f *os.File) (bool, error)    { return lock(f, unix.LOCK_SH) }
func lockExclusive(f *os.File) (bool, error) { return lock(f, unix.LOCK_EX) }

func lock(f *os.File, how int) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, &os.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}

// ownerOf returns the user id that owns a file.
func ownerOf(i fs.FileInfo) int { return int(i.Sys().(*syscall.Stat_t).Uid) }

// supported is nil where this package works.
func supported() error { return nil }
