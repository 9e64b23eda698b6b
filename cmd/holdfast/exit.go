package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/holdfast-go/holdfast"
)

// The exit codes of our own. Any other is the command's: its own code, or
// 128+n if signal n ended it.
const (
	exitUsage         = 64  // a flag, a value or the name is wrong
	exitUnavailable   = 69  // the store gives no answer
	exitTimeout       = 74  // --wait passed and the lock is still held
	exitHeld          = 75  // held, and --no-wait was given
	exitLost          = 76  // the lock was lost, revoked, or reached --max-hold
	exitRefused       = 77  // the store answered no
	exitNotExecutable = 126 // the command exists and cannot be run
	exitNotFound      = 127 // there is no such command
	exitSignal        = 128 // plus n: ended by signal n
)

// exitError is an error with the code that the process ends with. A nil err is
// a code that needs no words.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Unwrap() error { return e.err }

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

// usagef is an error in how the program was called.
func usagef(format string, args ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// quiet ends the program with code, 0 too, and says nothing.
func quiet(code int) error { return &exitError{code: code} }

// signalError is the cause of a context that a signal ended.
type signalError struct{ sig syscall.Signal }

func (e *signalError) Error() string { return "stopped by signal: " + e.sig.String() }

// signalOf returns the signal that ended ctx, if one did.
func signalOf(ctx context.Context) (syscall.Signal, bool) {
	var s *signalError
	if errors.As(context.Cause(ctx), &s) {
		return s.sig, true
	}
	return 0, false
}

// exitCode says which code err stands for.
func exitCode(err error) int {
	var coded *exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &coded):
		return coded.code
	case errors.Is(err, holdfast.ErrInvalid):
		return exitUsage
	case errors.Is(err, holdfast.ErrHeld) && errors.Is(err, context.DeadlineExceeded):
		return exitTimeout
	case errors.Is(err, holdfast.ErrHeld):
		return exitHeld
	case errors.Is(err, holdfast.ErrLost), errors.Is(err, holdfast.ErrMaxHold), errors.Is(err, holdfast.ErrRevoked):
		return exitLost
	case errors.Is(err, holdfast.ErrRefused), errors.Is(err, holdfast.ErrKind), errors.Is(err, holdfast.ErrCorrupt):
		return exitRefused
	}
	return exitUnavailable
}

// withCode settles the code that err stands for.
func withCode(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code: exitCode(err), err: wordsOf(err)}
}

// wordsOf is nil for an error that is only a code.
func wordsOf(err error) error {
	var coded *exitError
	if errors.As(err, &coded) && coded.err == nil {
		return nil
	}
	return err
}
