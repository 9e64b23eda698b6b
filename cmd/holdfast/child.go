package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// childSpec is what to start. The command gets our standard streams as they are.
type childSpec struct {
	path    string // found by findCommand
	argv    []string
	env     []string
	inherit []*os.File // kept open by it and by all that it starts
	nested  bool       // stay in our process group: an outer run ends it as a whole
}

// change is what a child's change of state amounts to.
type change struct {
	ended   bool
	code    int            // ended: as a shell would report it
	stopped syscall.Signal // stopped by this signal, 0 if not
}

// findCommand looks a command up as a shell would, before any lock is taken.
func findCommand(name string) (string, error) {
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
		return path, nil
	case errors.Is(err, exec.ErrDot):
		return "", commandError(exitNotFound, "command %q is only in the current directory, by way of PATH: write ./%[1]s", name)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "", commandError(exitNotFound, "command %q was not found: check its spelling and PATH; the lock was not taken", name)
	case errors.Is(err, fs.ErrPermission):
		return "", commandError(exitNotExecutable, "command %q cannot be executed: make it executable with chmod +x; the lock was not taken", name)
	}
	return "", commandError(exitNotExecutable, "command %q cannot be executed: %v; the lock was not taken", name, errors.Unwrap(err))
}

// startError explains why a command that was found did not start.
func startError(name string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return commandError(exitNotExecutable, "command %q is no program: start a script with #!, like #!/bin/sh; the lock was released", name)
	case errors.Is(err, fs.ErrNotExist):
		return commandError(exitNotFound, "command %q or the interpreter in its first line was not found; the lock was released", name)
	}
	return commandError(exitNotExecutable, "command %q did not start: %v; the lock was released", name, err)
}

func commandError(code int, format string, args ...any) error {
	return &exitError{code: code, err: fmt.Errorf(format, args...)}
}
