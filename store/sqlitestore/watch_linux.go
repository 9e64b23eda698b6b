package sqlitestore

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// canWatch tells whether this system can say that a file was touched.
const canWatch = true

// watch reads which files of a folder were closed after writing. It looks at
// nothing else, so that reading liveness files and the work of SQLite cost no
// event each.
type watch struct {
	file    *os.File
	closing atomic.Bool
}

func newWatch(dir string) (*watch, error) {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("inotify: %w", err)
	}
	// A folder that is moved or removed ends every lock in it.
	const mask = syscall.IN_CLOSE_WRITE | syscall.IN_MOVE_SELF | syscall.IN_DELETE_SELF | syscall.IN_ONLYDIR
	if _, err := syscall.InotifyAddWatch(fd, dir, mask); err != nil {
		_ = syscall.Close(fd)
		return nil, fmt.Errorf("inotify: %s: %w", dir, err)
	}
	return &watch{file: os.NewFile(uintptr(fd), "inotify")}, nil
}

// read calls saw for each file, with "" where events were lost or the folder is
// gone. It returns nil when w is closed, and an error when reading fails.
func (w *watch) read(saw func(file string)) error {
	buf := make([]byte, 64*(syscall.SizeofInotifyEvent+syscall.NAME_MAX+1))
	for {
		n, err := w.file.Read(buf)
		if w.closing.Load() {
			return nil
		}
		if err != nil {
			_ = w.file.Close()
			return err
		}
		each(buf[:n], saw)
	}
}

// each takes the events in b apart.
func each(b []byte, saw func(file string)) {
	for len(b) >= syscall.SizeofInotifyEvent {
		e := (*syscall.InotifyEvent)(unsafe.Pointer(&b[0]))
		end := syscall.SizeofInotifyEvent + int(e.Len)
		name := strings.TrimRight(string(b[syscall.SizeofInotifyEvent:end]), "\x00")
		b = b[end:]
		switch {
		case e.Mask&syscall.IN_CLOSE_WRITE == 0:
			saw("")
		case strings.HasPrefix(name, "wake-"), strings.HasPrefix(name, "client-"):
			saw(name)
		}
	}
}

func (w *watch) close() {
	w.closing.Store(true)
	_ = w.file.Close()
}
