package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	_ "modernc.org/sqlite" // the database/sql driver "sqlite"
)

const (
	// patience bounds the wait for the write lock where ctx has no deadline.
	patience = 10 * time.Second
	// tidy bounds it where nobody asks for the outcome.
	tidy = time.Second
	// shortPause and longPause bound the pauses of that wait. SQLite offers
	// nothing to wait on, and its own pauses end with no context.
	shortPause = 50 * time.Microsecond
	longPause  = 5 * time.Millisecond
)

// errReplaced says that the database at our path is not the one we opened.
var errReplaced = errors.New("the database was deleted or replaced")

// database is the SQLite file. It has one connection: SQLite has one writer at
// a time anyway, and goroutines of one process queue better here than there.
type database struct {
	path string
	pool *sql.DB
	conn *sql.Conn
	file os.FileInfo     // what was opened
	turn chan struct{}   // held by whoever uses conn
	shut chan struct{}   // closed by close
	done <-chan struct{} // closed when the store is
	q    queries
}

// openDatabase opens the database of p, and makes it if it is missing.
func openDatabase(ctx context.Context, p place, done <-chan struct{}) (*database, error) {
	path := p.database()
	before, err := p.createDatabase()
	if err != nil {
		return nil, explainFile(err)
	}
	d := &database{path: path, turn: make(chan struct{}, 1), shut: make(chan struct{}), done: done}
	if err := d.connect(ctx); err != nil {
		return nil, err
	}
	if err := d.retry(ctx, done, func() error { return d.setUp(p) }); err != nil {
		_ = d.close(ctx)
		return nil, err
	}
	// The same file before and after is the one that SQLite has opened.
	d.file = before
	if d.replaced() {
		_ = d.close(ctx)
		return nil, fmt.Errorf("%w: %s: %w while it was opened: try again", driver.ErrUnavailable, path, errReplaced)
	}
	return d, nil
}

func (d *database) connect(ctx context.Context) error {
	dsn := url.URL{Scheme: "file", Path: d.path}
	pool, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return explain(d.path, err)
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		_ = pool.Close()
		return explain(d.path, err)
	}
	d.pool, d.conn = pool, conn
	d.q = queries{conn: conn, stmts: map[string]*sql.Stmt{}}
	return nil
}

// write runs fn in a transaction that has the write lock from the start. It
// ends with driver.ErrClosed when the store is closed.
func (d *database) write(ctx context.Context, fn func(*queries) error) error {
	return d.transact(ctx, d.done, fn)
}

// finish is write for a store that is already closed.
func (d *database) finish(ctx context.Context, fn func(*queries) error) error {
	return d.transact(ctx, nil, fn)
}

func (d *database) transact(ctx context.Context, done <-chan struct{}, fn func(*queries) error) error {
	if err := d.enter(ctx, done); err != nil {
		return err
	}
	defer d.leave()
	if d.replaced() {
		return errReplaced
	}
	if err := d.retry(ctx, done, func() error { return d.q.exec("begin") }); err != nil {
		return err
	}
	if err := fn(&d.q); err != nil {
		_ = d.q.exec("rollback") // SQLite may have done so already
		return explain(d.path, err)
	}
	return d.commit()
}

// commit runs to its end whatever becomes of the caller, so that its outcome is
// known unless the disk fails.
func (d *database) commit() error {
	err := d.q.exec("commit")
	if err == nil {
		return nil
	}
	_ = d.q.exec("rollback")
	return explainCommit(d.path, err)
}

// read runs fn, which must write nothing.
func (d *database) read(ctx context.Context, fn func(*queries) error) error {
	if err := d.enter(ctx, d.done); err != nil {
		return err
	}
	defer d.leave()
	if d.replaced() {
		return errReplaced
	}
	return d.retry(ctx, d.done, func() error { return fn(&d.q) })
}

// retry repeats fn while SQLite says that another process is in the way.
func (d *database) retry(ctx context.Context, done <-chan struct{}, fn func() error) error {
	err := fn()
	if !isBusy(err) {
		return explain(d.path, err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for pause := shortPause; isBusy(err); pause = min(2*pause, longPause) {
		t := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-t.C:
			err = fn()
		case <-done:
			t.Stop()
			return driver.ErrClosed
		case <-ctx.Done():
			t.Stop()
			return fmt.Errorf("%w: %s: another process keeps it locked, perhaps one that is stopped: %w", driver.ErrUnavailable, d.path, ctx.Err())
		}
	}
	return explain(d.path, err)
}

func (d *database) enter(ctx context.Context, done <-chan struct{}) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", driver.ErrUnavailable, err)
	}
	select {
	case d.turn <- struct{}{}:
		return nil
	case <-done:
		return driver.ErrClosed
	case <-d.shut:
		return errReplaced
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", driver.ErrUnavailable, ctx.Err())
	}
}

func (d *database) leave() { <-d.turn }

// replaced looks at the path only: to open and close the file ourselves would
// drop SQLite's locks on it.
func (d *database) replaced() bool {
	now, err := os.Lstat(d.path)
	return err != nil || !os.SameFile(d.file, now)
}

// close waits for the call in progress. Those that come later find the database
// replaced by another, or their store closed.
func (d *database) close(ctx context.Context) error {
	close(d.shut)
	select {
	case d.turn <- struct{}{}: // never given back
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", driver.ErrUnavailable, ctx.Err())
	}
	d.q.close()
	_ = d.conn.Close()
	return d.pool.Close()
}
