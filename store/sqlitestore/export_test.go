//go:build linux || darwin || freebsd

package sqlitestore

import "time"

// NeverLook leaves s to what wakes it, so that a test shows that something does.
func (s *Store) NeverLook() { s.looks = looks{first: time.Hour, later: time.Hour} }
