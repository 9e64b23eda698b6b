// Package sqlitestore keeps locks in a folder of this machine, for all of its
// processes. Nothing needs to be installed or running.
//
// The folder holds a SQLite database and a few empty files. Locks exclude the
// processes that use the same folder: by default those of one user, with
// Options.System those of everybody whom the folder's group lets in.
//
// # What it promises
//
// Time is the machine's monotonic clock, which steps of the wall clock do not
// move and which sleeps when the machine sleeps. Each client keeps a file locked
// with flock(2) as long as it lives: when its process dies, whoever asks next
// gets its locks at once, by kill -9 as by a reboot. No process id is ever
// consulted, so pid namespaces do not matter, and neither do time namespaces.
// Waiting costs no polling on Linux; elsewhere, and where inotify fails, a
// waiter looks four times a second. Each client that waits or renews uses one
// inotify instance, of which Linux gives a user 128 unless told otherwise.
//
// # What it does not
//
// A process that is stopped (SIGSTOP) within the fraction of a millisecond in
// which it writes to the database stops everybody until it goes on or dies.
// Whoever deletes or replaces the folder or its database ends all locks in it:
// holders learn by their next renewal. Tokens then go on from the wall clock.
// Power loss may undo the last grants; no holder survives it.
//
// Containers with folders of their own do not exclude each other. Folders on
// network file systems, and those shared into a virtual machine, are refused:
// neither file locks nor the clock are shared there.
package sqlitestore

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Store is one client's view of a state folder. It implements driver.Store,
// Host, Pinger, Inspector, Breaker and Inheritor. Use New for a client; a Store
// alone is for those who compose stores.
type Store struct {
	place  place
	looks  looks
	info   driver.ClientInfo  // set by Attach, before any other method
	notify func(driver.Event) // likewise

	done    chan struct{} // closed by Close
	close   sync.Once
	opening chan struct{}           // held by whoever opens or replaces current
	current atomic.Pointer[session] // nil until first used
	foreign sightings               // what was seen of rows of another boot
}

var (
	_ driver.Store     = (*Store)(nil)
	_ driver.Host      = (*Store)(nil)
	_ driver.Pinger    = (*Store)(nil)
	_ driver.Inspector = (*Store)(nil)
	_ driver.Breaker   = (*Store)(nil)
	_ driver.Inheritor = (*Store)(nil)
)

// NewStore returns a Store. It touches nothing: the folder is opened, and made
// if it is missing, by the first request.
func NewStore(o *Options) (*Store, error) {
	p, err := o.place()
	if err != nil {
		return nil, err
	}
	return &Store{
		place:   p,
		looks:   usualLooks,
		notify:  func(driver.Event) {},
		done:    make(chan struct{}),
		opening: make(chan struct{}, 1),
	}, nil
}

// Attach implements driver.Host.
func (s *Store) Attach(info driver.ClientInfo, notify func(driver.Event)) {
	s.info, s.notify = info, notify
}

// Profile implements driver.Store.
func (s *Store) Profile() driver.Profile {
	return driver.Profile{
		Name:    "sqlite",
		MinTTL:  100 * time.Millisecond,
		Unit:    time.Millisecond,
		Clock:   driver.SharedClock,
		Signals: canWatch,
		Weak:    []driver.Weakness{driver.TokenNeedsClock},
	}
}

// Ping implements driver.Pinger. It opens the folder, so that its faults show
// before the first lock.
func (s *Store) Ping(ctx context.Context) error {
	_, err := s.session(ctx)
	return err
}

// Inherit implements driver.Inheritor with the client's liveness file.
func (s *Store) Inherit() []*os.File {
	if st := s.current.Load(); st != nil {
		return []*os.File{st.live.file}
	}
	return nil
}

// Close implements driver.Store. Holds that were not released stay until they
// expire. What it has to do takes moments, so that it is done even if ctx has
// ended.
func (s *Store) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	s.close.Do(func() { close(s.done) })
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	st := s.current.Swap(nil)
	if st == nil {
		return nil
	}
	return st.close(ctx)
}

func (s *Store) isClosed() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}
