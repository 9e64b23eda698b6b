package holdfast

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// queues are where goroutines of this client wait, first come first served, for
// names that others hold. Each name has one acquisition at a time that talks to
// the store, whoever waits: a thousand waiters cost the store what one costs.
type queues struct {
	c *Client

	mu     sync.Mutex // guards the following and all fields of the queues
	byKey  map[queueKey]*queue
	sweep  int  // remove idle queues when there are this many
	closed bool // no more waiting
}

type queueKey struct {
	name string
	kind driver.Kind
}

// queue is the waiting line of one name. The acquisition belongs to it, not to
// its first waiter, who may leave at any time.
type queue struct {
	key     queueKey
	waiters *list.List         // of *waiter
	held    *hold              // by this client: nothing is sent until it is over
	asking  bool               // an acquisition is under way
	enough  context.CancelFunc // ends its waiting; nil if not asking

	tenure time.Time // since when only this client has held the name; zero: unknown
	freed  time.Time // when this client last gave it up
	pause  time.Time // stand back until then

	busy   *driver.Busy // the latest answer, if it was that
	busyAt time.Time
	silent time.Time // since when requests go without a useful answer; zero: none does
	err    error     // the latest failure while silent
}

// waiter is one call of Lock.
type waiter struct {
	terms terms
	ctx   context.Context // values for the request
	since time.Time
	place *list.Element
	ready chan grant // has room for the one answer
}

// grant is what a waiter gets.
type grant struct {
	hold *hold
	err  error
}

const (
	// A client that has held a contended name this long without a break …
	tenureLimit = 200 * time.Millisecond
	// … lets the others ask first for this long.
	standBack = 50 * time.Millisecond
	// sweepAt is the first number of queues at which idle ones are removed.
	sweepAt = 64
)

func newQueues(c *Client) *queues {
	return &queues{c: c, byKey: make(map[queueKey]*queue), sweep: sweepAt}
}

// get returns the queue of a key. Callers hold qs.mu.
func (qs *queues) get(key queueKey) *queue {
	q := qs.byKey[key]
	if q == nil {
		if len(qs.byKey) >= qs.sweep {
			qs.removeIdle()
		}
		q = &queue{key: key, waiters: list.New()}
		qs.byKey[key] = q
	}
	return q
}

// removeIdle forgets queues with nothing to remember. A contended name keeps its
// tenure between two holds, so it is not forgotten at once.
func (qs *queues) removeIdle() {
	now := time.Now()
	for key, q := range qs.byKey {
		if q.idle() && now.Sub(q.tenure) > time.Second && now.After(q.pause) {
			delete(qs.byKey, key)
		}
	}
	qs.sweep = max(sweepAt, 2*len(qs.byKey))
}

func (q *queue) idle() bool {
	return q.waiters.Len() == 0 && q.held == nil && !q.asking
}

// join puts a new waiter at the end of the line.
func (qs *queues) join(ctx context.Context, key queueKey, t terms, most int) (*queue, *waiter, error) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if qs.closed {
		return nil, nil, ErrClosed
	}
	q := qs.get(key)
	if most > 0 && q.waiters.Len() >= most {
		return nil, nil, &HeldError{Name: key.name, why: ErrTooManyWaiters}
	}
	w := &waiter{
		terms: t, ctx: context.WithoutCancel(ctx), since: time.Now(), ready: make(chan grant, 1),
	}
	w.place = q.waiters.PushBack(w)
	qs.proceed(q)
	return q, w, nil
}

// proceed starts the acquisition if there is reason for one.
func (qs *queues) proceed(q *queue) {
	if q.waiters.Len() == 0 || q.held != nil || q.asking {
		return
	}
	q.asking = qs.c.ask(func(ctx context.Context) { qs.acquire(ctx, q) })
}

// quit takes w out of the line. A grant that came at the same moment goes back.
func (qs *queues) quit(q *queue, w *waiter) {
	qs.mu.Lock()
	q.remove(w)
	if q.waiters.Len() == 0 && q.enough != nil {
		q.enough()
	}
	qs.drop(q)
	qs.mu.Unlock()
	select {
	case g := <-w.ready:
		if g.hold != nil {
			g.hold.decline()
		}
	default:
	}
}

func (q *queue) remove(w *waiter) {
	if w.place != nil {
		q.waiters.Remove(w.place)
		w.place = nil
	}
}

// drop forgets a queue that has nothing to remember.
func (qs *queues) drop(q *queue) {
	if q.idle() && q.tenure.IsZero() && q.pause.IsZero() && qs.byKey[q.key] == q {
		delete(qs.byKey, q.key)
	}
}

// first returns the waiter whose request is sent next, and a context for what
// comes between two requests, which ends when nobody waits any more. It returns
// nil when there is nothing to ask for: then the acquisition is over.
func (qs *queues) first(ctx context.Context, q *queue) (*waiter, context.Context) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if q.waiters.Len() == 0 || q.held != nil {
		q.asking = false
		q.answered() // what was learned so far is not news to the next
		if q.enough != nil {
			q.enough()
			q.enough = nil
		}
		qs.drop(q)
		return nil, nil
	}
	if q.enough != nil {
		q.enough()
	}
	ctx, q.enough = context.WithCancel(ctx)
	return q.waiters.Front().Value.(*waiter), ctx
}

// deliver hands h to the first waiter that asked for the same, and reports
// whether there was one.
func (qs *queues) deliver(q *queue, h *hold) bool {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q.answered()
	for e := q.waiters.Front(); e != nil; e = e.Next() {
		w := e.Value.(*waiter)
		if w.terms != h.terms {
			continue
		}
		q.remove(w)
		h.values = w.ctx // another may have asked
		qs.adopt(q, h)
		w.ready <- grant{hold: h}
		return true
	}
	return false
}

// adopt notes that this client holds the name.
func (qs *queues) adopt(q *queue, h *hold) {
	q.held, h.queue = h, q
	if now := time.Now(); q.tenure.IsZero() || now.Sub(q.freed) > standBack {
		q.tenure = now
	}
	qs.c.remember(h)
}

// adoptTry is adopt for a hold that did not come through the queue.
func (qs *queues) adoptTry(key queueKey, h *hold) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := qs.get(key)
	q.answered()
	qs.adopt(q, h)
}

// fail ends the wait of everybody in the line.
func (qs *queues) fail(q *queue, err error) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q.fail(err)
}

func (q *queue) fail(err error) {
	for q.waiters.Len() > 0 {
		w := q.waiters.Front().Value.(*waiter)
		q.remove(w)
		w.ready <- grant{err: err}
	}
}

// free is told that h is over in this client: released, or past its deadline.
func (qs *queues) free(h *hold, r driver.Released) {
	q, now := h.queue, time.Now()
	if q == nil {
		return
	}
	qs.mu.Lock()
	stood := false
	if q.held == h {
		q.held, q.freed = nil, now
		switch {
		case r.Waiters == 0:
			q.tenure = time.Time{}
		case now.Sub(q.tenure) >= tenureLimit:
			q.tenure, q.pause = time.Time{}, now.Add(standBack)
			stood = true
		}
	}
	qs.proceed(q)
	qs.drop(q)
	qs.mu.Unlock()
	if stood {
		h.tell(StoodBack, nil)
	}
}

// pausing is how much longer this client stands back.
func (qs *queues) pausing(q *queue) time.Duration {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if q.pause.IsZero() {
		return 0
	}
	left := time.Until(q.pause)
	if left <= 0 {
		q.pause = time.Time{}
	}
	return max(left, 0)
}

// close fails all waiters now and those to come. It does so before it ends the
// waiting in the store, which would begin again while there are any.
func (qs *queues) close() {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	qs.closed = true
	for _, q := range qs.byKey {
		q.fail(ErrClosed)
		if q.enough != nil {
			q.enough()
		}
	}
}
