package holdfast

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// The kinds of failure. Match them with errors.Is; a returned error also names
// the lock and says what to do. context.Canceled and DeadlineExceeded appear
// only where the caller's own context or wait ended.
var (
	// ErrHeld: somebody else has it. errors.As to *HeldError tells who.
	ErrHeld = errors.New("held by another owner")
	// ErrTooManyWaiters: MaxWaiters goroutines wait already. It is ErrHeld too.
	ErrTooManyWaiters = errors.New("too many waiters")
	// ErrLost: the work may have run while another held the lock.
	ErrLost = errors.New("lock lost")
	// ErrMaxHold: the lease reached MaxHold.
	ErrMaxHold = errors.New("maximum hold time reached")
	// ErrRevoked: an operator took the lock away.
	ErrRevoked = driver.ErrRevoked
	// ErrNotHeld: this lease was never taken or is unlocked already.
	ErrNotHeld = errors.New("not held")
	// ErrDeadlock: the context already holds this name. It is ErrHeld too.
	ErrDeadlock = errors.New("this context already holds it")
	// ErrKind: what is stored under this name is no lock of this kind.
	ErrKind = driver.ErrKind
	// ErrUnavailable: the store gave no answer. The lock is not yours.
	ErrUnavailable = driver.ErrUnavailable
	// ErrRefused: the store answered no, for a reason of its own.
	ErrRefused = driver.ErrRefused
	// ErrNoQuorum: too few of the independent stores answered.
	ErrNoQuorum = errors.New("no quorum")
	// ErrNotReplicated: too few replicas confirmed.
	ErrNotReplicated = errors.New("not replicated")
	// ErrUnknown: the release cannot be told from a loss, since another owner
	// has entered meanwhile. Only from Unlock.
	ErrUnknown = driver.ErrUnknown
	// ErrCorrupt: stored lock data is unreadable.
	ErrCorrupt = driver.ErrCorrupt
	// ErrInvalid: an argument or option breaks a rule; nothing was sent.
	ErrInvalid = errors.New("invalid")
	// ErrClosed: the client is closed.
	ErrClosed = driver.ErrClosed
)

// HeldError says who holds a lock that could not be taken; Client.Holder tells
// more about the holder. It matches ErrHeld
// and, where it applies, ErrDeadlock, ErrTooManyWaiters, or the error of the
// context or wait that ended.
type HeldError struct {
	Name    string
	Kind    string        // "mutex"; empty if unknown
	Owner   string        // the holder's id in its 8-character form; empty if unknown
	Until   time.Time     // when it expires unless renewed; zero: it never does, or unknown
	Resting bool          // nobody works: the last holder's AtLeast has not passed
	Waited  time.Duration // how long this call waited

	why error // what else is true, or nil
}

// describe fills in what the store said about the holder.
func (e *HeldError) describe(b *driver.Busy, at time.Time) {
	e.Kind, e.Owner, e.Resting = b.Kind.String(), shortOwner(b.Owner), b.Resting
	if b.Left >= 0 {
		e.Until = at.Add(b.Left)
	}
}

// Error names the lock, the holder, and the remedy.
func (e *HeldError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "lock %q: ", e.Name)
	switch {
	case errors.Is(e.why, ErrDeadlock):
		b.WriteString("this context already holds it: pass another context, or set Reentrant to enter again")
		return b.String()
	case errors.Is(e.why, ErrTooManyWaiters):
		b.WriteString("too many waiters: try later or raise MaxWaiters")
		return b.String()
	case e.Resting:
		b.WriteString("kept taken by its last holder's AtLeast")
	case e.Owner == "":
		b.WriteString("held")
	default:
		fmt.Fprintf(&b, "held by %s", e.Owner)
	}
	if !e.Until.IsZero() {
		fmt.Fprintf(&b, " for up to %v", max(time.Until(e.Until), 0).Round(time.Millisecond))
	}
	if e.Waited > 0 {
		fmt.Fprintf(&b, ", waited %v", e.Waited.Round(time.Millisecond))
	}
	if e.why != nil {
		fmt.Fprintf(&b, ": %v", e.why)
	}
	b.WriteString(": try later or wait longer; Client.Holder tells who it is")
	return b.String()
}

// Unwrap returns what the error matches.
func (e *HeldError) Unwrap() []error {
	if e.why == nil {
		return []error{ErrHeld}
	}
	return []error{ErrHeld, e.why}
}

// opError adds the operation, the lock's name and a remedy to err, once.
type opError struct {
	op, name string
	err      error
}

// wrap returns nil for nil and leaves an error that names its lock alone.
func wrap(op, name string, err error) error {
	if err == nil {
		return nil
	}
	var held *HeldError
	var done *opError
	if errors.As(err, &held) || errors.As(err, &done) {
		return err
	}
	return &opError{op: op, name: name, err: err}
}

func (e *opError) Unwrap() error { return e.err }

func (e *opError) Error() string {
	msg := e.op
	if e.name != "" {
		msg += fmt.Sprintf(" %q", e.name)
	}
	msg += ": " + e.err.Error()
	if r := remedy(e.err); r != "" {
		msg += ": " + r
	}
	return msg
}

// remedy says what to do about err, or nothing where err says it itself.
func remedy(err error) string {
	switch {
	case errors.Is(err, errFree):
		return ""
	case errors.Is(err, ErrLost):
		return "stop, and let the resource check the fencing token; another owner may work already"
	case errors.Is(err, ErrMaxHold):
		return "raise MaxHold or make the work shorter"
	case errors.Is(err, ErrRevoked):
		return "stop; ask who freed it"
	case errors.Is(err, ErrNotHeld):
		return "unlock each lease once"
	case errors.Is(err, ErrKind):
		return "choose another name"
	case err.Error() == ErrCorrupt.Error(): // a store that says more says what to do
		return "inspect the stored value and remove it"
	case errors.Is(err, ErrUnknown):
		return "it was released or lost, and another owner has entered since; check what was written with the fencing token"
	case errors.Is(err, ErrClosed):
		return "open a new client"
	case errors.Is(err, ErrUnavailable):
		return "check that the store is up and reachable"
	}
	return ""
}

// fromStore is an error of the store as everybody but Unlock may see it. Without
// an answer nothing is the caller's, whether the request ran or not; and the end
// of a context below was not the end of the caller's.
func fromStore(err error) error {
	for _, kind := range []error{ErrUnavailable, ErrKind, ErrCorrupt, ErrRefused, ErrClosed} {
		if errors.Is(err, kind) {
			return &storeError{err}
		}
	}
	return join(ErrUnavailable, errors.New(err.Error()))
}

// storeError matches what its error matches, except the end of a context.
type storeError struct{ err error }

func (e *storeError) Error() string      { return e.err.Error() }
func (e *storeError) As(target any) bool { return errors.As(e.err, target) }

func (e *storeError) Is(target error) bool {
	return target != context.Canceled && target != context.DeadlineExceeded && errors.Is(e.err, target)
}

// invalid builds an ErrInvalid that names the value, the rule and the remedy.
func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}

// joined is several errors on one line.
type joined struct{ errs []error }

func (j *joined) Unwrap() []error { return j.errs }

func (j *joined) Error() string {
	parts := make([]string, len(j.errs))
	for i, err := range j.errs {
		parts[i] = err.Error()
	}
	return strings.Join(parts, "; ")
}

// join joins what is not nil.
func join(errs ...error) error {
	var j joined
	for _, err := range errs {
		if err != nil {
			j.errs = append(j.errs, err)
		}
	}
	switch len(j.errs) {
	case 0:
		return nil
	case 1:
		return j.errs[0]
	}
	return &j
}
