package holdfast

import (
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// What a queue knows from the store's answers, or from their absence: it decides
// how long waiters bear with a silent store and what they are told when they
// leave.

// answered notes that the store gave a useful answer.
func (q *queue) answered() {
	q.silent, q.err, q.busy = time.Time{}, nil, nil
}

// taken notes that another owner has the name.
func (qs *queues) taken(q *queue, b *driver.Busy) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q.answered()
	q.busy, q.busyAt, q.tenure = b, time.Now(), time.Time{}
}

// sending notes when a request leaves.
func (qs *queues) sending(q *queue) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if q.silent.IsZero() {
		q.silent = time.Now()
	}
}

// failed notes a request without a useful answer.
func (qs *queues) failed(q *queue, err error) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q.err = err
}

// patience returns how much longer a waiter bears with a silent store; zero
// when it is over.
func (qs *queues) patience(q *queue, w *waiter, most time.Duration) time.Duration {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if q.silent.IsZero() {
		return most
	}
	since := q.silent
	if w.since.After(since) {
		since = w.since
	}
	return max(0, most-time.Since(since))
}

// refusal is the error of a call that stops waiting because of cause: what the
// store said last, joined with the end of a context or wait.
func (qs *queues) refusal(q *queue, w *waiter, cause error) error {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	held := &HeldError{Name: q.key.name, Waited: time.Since(w.since), why: cause}
	switch {
	case errors.Is(cause, ErrUnavailable):
		if q.err != nil {
			return q.err
		}
		return cause
	case q.err != nil:
		return join(cause, q.err)
	case q.held != nil:
		held.Kind, held.Owner, held.Until = q.key.kind.String(), shortOwner(q.held.d.Owner), q.held.expires()
		return held
	case q.busy != nil:
		held.describe(q.busy, q.busyAt)
		return held
	}
	return cause
}
