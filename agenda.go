package holdfast

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// agenda calls due for its entries when their time has come. One goroutine
// serves any number of entries; it runs from the first entry until the client
// closes. Times are those of the agenda's clock: where that goes on in suspend,
// a timer alone would be late, so the goroutine also looks once every tick.
type agenda[T any] struct {
	clock clock
	due   func([]T) // called by the agenda's goroutine only; must not block
	start func(func(context.Context)) bool

	mu      sync.Mutex // guards the following
	entries entryHeap[T]
	running bool
	armed   time.Time     // when the goroutine will look next; zero while it works
	tick    time.Duration // the shortest asked for; 0: none
	wake    chan struct{} // holds one token; never closed
}

// entry is a place on an agenda. Its fields are guarded by the agenda's mutex.
type entry[T any] struct {
	at    time.Time
	index int // in the heap, counted from 1; 0: not on the agenda
	value T
}

func newAgenda[T any](c clock, start func(func(context.Context)) bool, due func([]T)) *agenda[T] {
	return &agenda[T]{clock: c, due: due, start: start, wake: make(chan struct{}, 1)}
}

// set puts e on the agenda at the given time, or moves it there. tick is how
// late e may be noticed after a suspend.
func (a *agenda[T]) set(e *entry[T], at time.Time, tick time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e.at = at
	if e.index == 0 {
		heap.Push(&a.entries, e)
	} else {
		heap.Fix(&a.entries, e.index-1)
	}
	hasten := tick > 0 && (a.tick == 0 || tick < a.tick)
	if hasten {
		a.tick = tick
	}
	if !a.running {
		a.running = a.start(a.run)
		return
	}
	if !a.armed.IsZero() && (hasten || at.Before(a.armed)) {
		select {
		case a.wake <- struct{}{}:
		default:
		}
	}
}

// drop takes e off the agenda. The timer is left as it is: waking once for
// nothing is cheaper than waking now.
func (a *agenda[T]) drop(e *entry[T]) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e.index > 0 {
		heap.Remove(&a.entries, e.index-1)
	}
	if len(a.entries) == 0 {
		a.tick = 0
	}
}

func (a *agenda[T]) run(ctx context.Context) {
	timer := time.NewTimer(never)
	defer timer.Stop()
	for {
		values, sleep := a.next()
		if len(values) > 0 {
			a.due(values)
			continue
		}
		if sleep < never {
			timer.Reset(sleep)
		}
		select {
		case <-ctx.Done():
			return
		case <-a.wake:
		case <-timer.C:
		}
	}
}

// never is how long the goroutine sleeps with nothing on the agenda.
const never = time.Duration(1<<63 - 1)

// next takes what is due off the agenda, or says how long to sleep.
func (a *agenda[T]) next() ([]T, time.Duration) {
	now := a.clock.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	var values []T
	for len(a.entries) > 0 && !a.entries[0].at.After(now) {
		values = append(values, heap.Pop(&a.entries).(*entry[T]).value)
	}
	if len(values) > 0 {
		a.armed = time.Time{}
		return values, 0
	}
	if len(a.entries) == 0 {
		a.armed = now.Add(1 << 62)
		return nil, never
	}
	sleep := a.entries[0].at.Sub(now)
	if a.tick > 0 {
		sleep = min(sleep, a.tick)
	}
	a.armed = now.Add(sleep)
	return nil, sleep
}

// entryHeap orders entries by time and tells them their place.
type entryHeap[T any] []*entry[T]

func (h entryHeap[T]) Len() int           { return len(h) }
func (h entryHeap[T]) Less(i, j int) bool { return h[i].at.Before(h[j].at) }

func (h entryHeap[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i+1, j+1
}

func (h *entryHeap[T]) Push(x any) {
	e := x.(*entry[T])
	*h = append(*h, e)
	e.index = len(*h)
}

func (h *entryHeap[T]) Pop() any {
	old := *h
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	e.index = 0
	return e
}
