package sqlitestore

import (
	"sync"

	"github.com/holdfast-go/holdfast/driver"
)

// hub passes what is seen in the folder to those who wait. It watches from the
// first need on, in one goroutine, until it is closed.
type hub struct {
	dir    string
	own    string             // this client's liveness file
	onOwn  func()             // somebody touched it
	notify func(driver.Event) // tells when the watch begins and fails

	reading sync.WaitGroup // goroutines of watches; grows under mu while not closed

	mu        sync.Mutex // guards the following
	watch     *watch     // nil: not started, or failed
	down      bool       // told that watching fails
	closed    bool
	listeners map[string]map[*listener]struct{} // by file
}

// listener is woken by two files: the bucket of a name, and the liveness file of
// whoever holds it.
type listener struct {
	bucket, client string
	signal         chan struct{} // the name may be free
	death          chan struct{} // the client may be dead
}

func newHub(dir, own string, onOwn func(), notify func(driver.Event)) *hub {
	return &hub{dir: dir, own: own, onOwn: onOwn, notify: notify, listeners: map[string]map[*listener]struct{}{}}
}

// start begins to watch, unless that is under way. It reports whether the watch
// works.
func (h *hub) start() bool {
	h.mu.Lock()
	working, event := h.startLocked()
	h.mu.Unlock()
	if event != nil {
		h.notify(*event)
	}
	return working
}

func (h *hub) startLocked() (working bool, event *driver.Event) {
	if h.watch != nil || h.closed {
		return h.watch != nil, nil
	}
	w, err := newWatch(h.dir)
	if err != nil {
		if !h.down && canWatch {
			event = &driver.Event{Kind: driver.SubscriptionDown, Err: err}
		}
		h.down = true
		return false, event
	}
	if h.down {
		event = &driver.Event{Kind: driver.SubscriptionUp}
	}
	h.watch, h.down = w, false
	h.reading.Go(func() { h.read(w) })
	return true, event
}

// read passes on what w sees until it is closed or fails.
func (h *hub) read(w *watch) {
	err := w.read(h.saw)
	if err == nil {
		return
	}
	h.mu.Lock()
	h.watch, h.down = nil, true
	h.mu.Unlock()
	h.saw("")
	h.notify(driver.Event{Kind: driver.SubscriptionDown, Err: err})
}

// saw wakes those who listen for the file; "" is for all.
func (h *hub) saw(file string) {
	h.mu.Lock()
	if file == "" {
		h.wakeAll()
	}
	wake(h.listeners[file], file)
	h.mu.Unlock()
	if file == h.own || file == "" {
		h.onOwn()
	}
}

func (h *hub) wakeAll() {
	for _, ls := range h.listeners {
		wake(ls, "")
	}
}

func wake(ls map[*listener]struct{}, file string) {
	for l := range ls {
		c := l.signal
		if file != "" && file == l.client {
			c = l.death
		}
		select {
		case c <- struct{}{}:
		default: // it will look anyway
		}
	}
}

// listen returns a listener for bucket.
func (h *hub) listen(bucket string) *listener {
	l := &listener{bucket: bucket, signal: make(chan struct{}, 1), death: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.add(bucket, l)
	return l
}

// follow lets l listen for the death of another client.
func (h *hub) follow(l *listener, client string) {
	if l.client == client {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(l.client, l)
	l.client = client
	h.add(client, l)
}

// mute ends what listen began.
func (h *hub) mute(l *listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(l.bucket, l)
	h.remove(l.client, l)
}

func (h *hub) add(file string, l *listener) {
	if file == "" {
		return
	}
	if h.listeners[file] == nil {
		h.listeners[file] = map[*listener]struct{}{}
	}
	h.listeners[file][l] = struct{}{}
}

func (h *hub) remove(file string, l *listener) {
	delete(h.listeners[file], l)
	if len(h.listeners[file]) == 0 {
		delete(h.listeners, file)
	}
}

// close ends the watch, waits for its goroutine, and wakes everybody.
func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	w := h.watch
	h.wakeAll()
	h.mu.Unlock()
	if w != nil {
		w.close()
	}
	h.reading.Wait()
}
