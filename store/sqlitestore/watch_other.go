//go:build !linux

package sqlitestore

import "errors"

const canWatch = false

// watch does not exist here: waiters look from time to time.
type watch struct{}

func newWatch(string) (*watch, error)  { return nil, errors.ErrUnsupported }
func (*watch) read(func(string)) error { return errors.ErrUnsupported }
func (*watch) close()                  {}
