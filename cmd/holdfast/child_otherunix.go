//go:build unix && !linux

package main

import "syscall"

// dieWithParent does nothing: only Linux ties a child's life to its parent's.
func dieWithParent(*syscall.SysProcAttr) {}

// adoptOrphans does nothing: orphans go to init.
func adoptOrphans() {}

// descendants returns nil: not known here.
func descendants(map[int]bool) map[int]bool { return nil }
