package driver

import "errors"

// The errors that a store returns, bare or wrapped with what the store said.
// The core adds the operation, the name and the remedy.
var (
	ErrKind        = errors.New("the name is in use for something else")
	ErrCorrupt     = errors.New("stored lock data is unreadable") // say where, and how to be rid of it
	ErrRefused     = errors.New("store refused")
	ErrUnavailable = errors.New("store unreachable")
	ErrUnknown     = errors.New("outcome unknown")
	ErrClosed      = errors.New("client closed")

	// ErrGone: this owner holds nothing under this name. From Renew and Break.
	ErrGone = errors.New("no hold of this owner")
	// ErrRevoked: an operator took the hold away.
	ErrRevoked = errors.New("revoked by an operator")

	// ErrTemporary joins an ErrRefused that may pass by itself, such as a
	// server that is still loading: the core tries again.
	ErrTemporary = errors.New("for now")
)
