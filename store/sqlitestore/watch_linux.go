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
	done    chan struct{} // closed when run's goroutine has ended
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
	return &watch{file: os.NewFile(uintptr(fd), "inotify"), done: make(chan struct{})}, nil
}

// run starts the goroutine. It calls saw for each file, with "" where events
// were lost or the folder is gone, and ended if reading fails.
func (w *watch) run(saw func(file string), ended func(error)) {
	go func() {
		defer close(w.done)
		buf := make([]byte, 64*(syscall.SizeofInotifyEvent+syscall.NAME_MAX+1))
		for {
			n, err := w.file.Read(buf)
			if w.closing.Load() {
				return
			}
			if err != nil {
				_ = w.file.Close()
				ended(err)
				return
			}
			each(buf[:n], saw)
		}
	}()
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
	<-w.done
}
