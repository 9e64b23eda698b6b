// Package memstore keeps locks in the memory of one process.
//
// It excludes the goroutines and clients of that process from each other and
// nobody else; its holds end with the process. It is meant for tests, for
// programs that run once, and as the executable reading of the contract in
// package driver: where the contract could be read in two ways, this store
// shows which is meant. It runs inside a testing/synctest bubble, where every
// time is exact.
//
// A [Server] is the place where locks live. Its clients share it:
//
//	server := memstore.NewServer()
//	a, err := memstore.New(server, nil)
//	b, err := memstore.New(server, nil) // excluded by a, and a by b
//
// By URL, "memory:" is a place of its own and "memory:NAME" one that all
// clients of the process share by that name.
package memstore

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Server is a place where locks live. It may be used by many goroutines at
// once.
type Server struct {
	mu      sync.Mutex // guards the following and all locks
	locks   map[string]*lock
	marks   uint64 // the latest mark given to any lock
	base    int64  // the highest token among forgotten names
	sweepAt int    // how many locks make a sweep worth its cost
}

// NewServer returns an empty Server.
func NewServer() *Server {
	return &Server{locks: map[string]*lock{}, sweepAt: minSweep}
}

// Store returns a new client's view of s. It implements driver.Inspector,
// driver.Breaker and driver.Host as well.
func (s *Server) Store() driver.Store {
	return &store{server: s, closed: make(chan struct{})}
}

// store is one client's view of a Server.
type store struct {
	server *Server
	info   driver.ClientInfo  // set by Attach, before any other method
	notify func(driver.Event) // likewise; may be nil

	mu      sync.Mutex     // orders telling.Add before the Wait of Close
	telling sync.WaitGroup // calls of notify under way
	closed  chan struct{}  // closed by Close
}

var (
	_ driver.Inspector = (*store)(nil)
	_ driver.Breaker   = (*store)(nil)
	_ driver.Host      = (*store)(nil)
)

func (c *store) Attach(info driver.ClientInfo, notify func(driver.Event)) {
	c.info, c.notify = info, notify
}

func (c *store) Profile() driver.Profile {
	return driver.Profile{
		Name:    "memory",
		MinTTL:  time.Millisecond,
		Unit:    time.Nanosecond,
		Clock:   driver.SharedClock,
		Signals: true,
		Weak:    []driver.Weakness{driver.LosesOnRestart},
	}
}

func (c *store) Close(context.Context) error {
	c.mu.Lock()
	if !c.isClosed() {
		close(c.closed)
	}
	c.mu.Unlock()
	c.telling.Wait()
	return nil
}

func (c *store) isClosed() bool {
	select {
	case <-c.closed:
		return true
	default:
		return false
	}
}

// tell passes e to the client, unless it has closed.
func (c *store) tell(e driver.Event) {
	c.mu.Lock()
	if c.notify == nil || c.isClosed() {
		c.mu.Unlock()
		return
	}
	c.telling.Add(1)
	c.mu.Unlock()
	defer c.telling.Done()
	c.notify(e)
}
