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

	mu     sync.Mutex // protects following fields
	watch  *watch     // nil: not started, or failed
	down   bool       // told that watching fails
	closed bool
	ears   map[string]map[*ear]struct{} // by file
}

// ear listens for two files: the bucket of a name and the liveness file of
// whoever holds it.
type ear struct {
	bucket, client string
	heard          chan struct{} // the name may be free
	died           chan struct{} // the client may be dead
}

func newHub(dir, own string, onOwn func(), notify func(driver.Event)) *hub {
	return &hub{dir: dir, own: own, onOwn: onOwn, notify: notify, ears: map[string]map[*ear]struct{}{}}
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
	w.run(h.saw, h.ended)
	return true, event
}

// ended runs when the watch has failed.
func (h *hub) ended(err error) {
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
	wake(h.ears[file], file)
	h.mu.Unlock()
	if file == h.own || file == "" {
		h.onOwn()
	}
}

func (h *hub) wakeAll() {
	for _, es := range h.ears {
		wake(es, "")
	}
}

func wake(es map[*ear]struct{}, file string) {
	for e := range es {
		c := e.heard
		if file != "" && file == e.client {
			c = e.died
		}
		select {
		case c <- struct{}{}:
		default: // it is to look already
		}
	}
}

// listen returns an ear for bucket.
func (h *hub) listen(bucket string) *ear {
	e := &ear{bucket: bucket, heard: make(chan struct{}, 1), died: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.add(bucket, e)
	return e
}

// follow lets e listen for the end of another client.
func (h *hub) follow(e *ear, client string) {
	if e.client == client {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(e.client, e)
	e.client = client
	h.add(client, e)
}

func (h *hub) mute(e *ear) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(e.bucket, e)
	h.remove(e.client, e)
}

func (h *hub) add(file string, e *ear) {
	if file == "" {
		return
	}
	if h.ears[file] == nil {
		h.ears[file] = map[*ear]struct{}{}
	}
	h.ears[file][e] = struct{}{}
}

func (h *hub) remove(file string, e *ear) {
	delete(h.ears[file], e)
	if len(h.ears[file]) == 0 {
		delete(h.ears, file)
	}
}

// close ends the watch and wakes everybody.
func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	w := h.watch
	h.wakeAll()
	h.mu.Unlock()
	if w != nil {
		w.close()
	}
}
