//go:build !linux && !darwin && !freebsd

package sqlitestore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/holdfast-go/holdfast/driver"
)

// On these systems no lock on a file tells that its process lives and passes to
// children, so every Store refuses to open.

const noFollow = 0

type clock struct{ boot string }

func supported() error {
	return fmt.Errorf("%w: the sqlite store does not work on %s: use Linux, macOS or FreeBSD, or another store", driver.ErrRefused, runtime.GOOS)
}

func newClock() (clock, error)             { return clock{}, supported() }
func (clock) now() int64                   { return 0 }
func distantType(string) (string, error)   { return "", supported() }
func lockShared(*os.File) (bool, error)    { return false, errors.ErrUnsupported }
func lockExclusive(*os.File) (bool, error) { return false, errors.ErrUnsupported }
func ownerOf(fs.FileInfo) int              { return -1 }
