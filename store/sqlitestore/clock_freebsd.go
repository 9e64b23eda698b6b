package sqlitestore

import "golang.org/x/sys/unix"

const (
	bootID    = "kern.boot_id"
	monotonic = unix.CLOCK_MONOTONIC
)
