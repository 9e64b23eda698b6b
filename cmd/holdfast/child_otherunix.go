//go:build unix && !linux

package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent does nothing: only Linux ties a child's life to its parent's.
func dieWithParent(*syscall.SysProcAttr) {}

// adoptOrphans does nothing: orphans go to init.
func adoptOrphans() {}

// getTermios reads a terminal's modes.
const getTermios = unix.TIOCGETA

// ignores is not known here.
func ignores(int, syscall.Signal) bool { return false }

// children returns nil: only descendants asks.
func children() map[int]bool { return nil }

// descendants returns nil: not known here, so that what left the group escapes.
func descendants(map[int]bool) map[int]bool { return nil }
