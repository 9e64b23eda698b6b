//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal is the one that controls this session. A nil terminal does nothing.
type terminal struct {
	f     *os.File
	state *term.State // as it was before the command
}

// openTerminal returns nil where no terminal controls this process.
func openTerminal() *terminal {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil
	}
	state, _ := term.GetState(int(f.Fd()))
	return &terminal{f: f, state: state}
}

// handTo starts the command in the foreground if it is to talk with a person and
// we are in the foreground ourselves. In a pipeline the terminal stays with our
// group, where a pager may need it, until the command asks for it.
func (t *terminal) handTo(attr *syscall.SysProcAttr) {
	if t == nil || !term.IsTerminal(0) || !term.IsTerminal(1) || t.foreground() != syscall.Getpgrp() {
		return
	}
	attr.Foreground = true
	attr.Ctty = int(t.f.Fd())
}

// regain undoes handTo when the command did not start: the process that took the
// terminal was there, if only for a moment.
func (t *terminal) regain(attr *syscall.SysProcAttr) {
	if t != nil && attr.Foreground {
		signal.Ignore(syscall.SIGTTOU)
		t.give(syscall.Getpgrp())
	}
}

// foreground returns the process group that reads the terminal, or 0.
func (t *terminal) foreground() int {
	group, err := unix.IoctlGetInt(int(t.f.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return 0
	}
	return group
}

// raw reports whether keys are read one by one, not by line.
func (t *terminal) raw() bool {
	modes, err := unix.IoctlGetTermios(int(t.f.Fd()), getTermios)
	return err == nil && modes.Lflag&unix.ICANON == 0
}

// give needs SIGTTOU to be ignored.
func (t *terminal) give(group int) {
	unix.IoctlSetPointerInt(int(t.f.Fd()), unix.TIOCSPGRP, group)
}

// takeBack makes our group the foreground group if it is still the given one,
// and restores the terminal's modes if the command could not do so itself.
func (t *terminal) takeBack(group int, restore bool) {
	if t == nil {
		return
	}
	if t.foreground() == group {
		t.give(syscall.Getpgrp())
		if restore && t.state != nil {
			term.Restore(int(t.f.Fd()), t.state)
		}
	}
	t.f.Close()
}
