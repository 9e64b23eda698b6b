//go:build linux || darwin || freebsd

package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

func ask(name string, ttl time.Duration) driver.Request {
	return driver.Request{Name: name, Kind: driver.Mutex, Owner: fmt.Sprint("test:", rand.Int64()), TTL: ttl}
}

func mustTry(t testing.TB, s *Store, name string, ttl time.Duration) driver.Grant {
	t.Helper()
	g, err := s.Try(t.Context(), ask(name, ttl))
	if err != nil {
		t.Fatalf("Try: %v", err)
	}
	return g
}

func mustNotTry(t testing.TB, s *Store, name string) *driver.Busy {
	t.Helper()
	_, err := s.Try(t.Context(), ask(name, time.Minute))
	var b *driver.Busy
	if !errors.As(err, &b) {
		t.Fatalf("Try of a held name: %v", err)
	}
	return b
}

func mustRelease(t testing.TB, s *Store, h driver.Hold) {
	t.Helper()
	if r, err := s.Release(t.Context(), h); err != nil || !r.Freed {
		t.Fatalf("Release: %+v, %v", r, err)
	}
}

// number reads one number from the store's own connection.
func number(t testing.TB, s *Store, query string) (n int64) {
	t.Helper()
	st, err := s.session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = st.db.read(t.Context(), func(q *queries) error {
		return q.conn.QueryRowContext(t.Context(), query).Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func change(t testing.TB, s *Store, script string) {
	t.Helper()
	st, err := s.session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = st.db.write(t.Context(), func(q *queries) error {
		_, err := q.conn.ExecContext(t.Context(), script)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestIdleNamesAreForgotten: the database does not grow by a row for each name
// ever locked, and a forgotten name's tokens go on.
func TestIdleNamesAreForgotten(t *testing.T) {
	s := testStore(t, filepath.Join(t.TempDir(), "locks"))
	last := int64(0)
	for i := range 100 {
		g := mustTry(t, s, fmt.Sprint("old", i), time.Minute)
		mustRelease(t, s, g.Hold)
		last = max(last, g.Last)
	}
	held := mustTry(t, s, "held", time.Hour)
	change(t, s, "UPDATE names SET used = used - 25, token = token + 1000000000000")
	last += 1_000_000_000_000
	for i := range 50 {
		g := mustTry(t, s, fmt.Sprint("new", i), time.Minute)
		mustRelease(t, s, g.Hold)
	}
	if n := number(t, s, "SELECT count(*) FROM names"); n != 51 {
		t.Errorf("%d names are remembered, want 50 new ones and the held one", n)
	}
	if g := mustTry(t, s, "old7", time.Minute); g.First <= last {
		t.Errorf("token %d of a forgotten name came after %d", g.First, last)
	}
	mustRelease(t, s, held.Hold)
}

// TestNothingIsLeft: after everybody has left there are no rows but counters.
func TestNothingIsLeft(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locks")
	s := testStore(t, dir)
	for range 5 {
		other := testStore(t, dir)
		g := mustTry(t, other, "n", time.Hour)
		b := mustNotTry(t, s, "n")
		done := make(chan error)
		go func() { done <- s.Wait(t.Context(), ask("n", time.Hour), b) }()
		mustRelease(t, other, g.Hold)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if err := other.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	g := mustTry(t, s, "n", time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.Wait(ctx, ask("n", time.Hour), mustNotTry(t, s, "n")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait said %v", err)
	}
	if n := number(t, s, "SELECT count(*) FROM waiters"); n != 0 {
		t.Errorf("%d rows of a wait that is over are left", n)
	}
	mustRelease(t, s, g.Hold)
	for table, want := range map[string]int64{"clients": 1, "holds": 0, "waiters": 0, "breaks": 0, "names": 1} {
		if n := number(t, s, "SELECT count(*) FROM "+table); n != want {
			t.Errorf("%d rows are left in %s, want %d", n, table, want)
		}
	}
	m, err := filepath.Glob(filepath.Join(dir, "client-*"))
	if err != nil || len(m) != 1 {
		t.Errorf("liveness files %q are left, want one", m)
	}
}

// TestDatabaseLocked: another process is stopped in the middle of a write.
func TestDatabaseLocked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locks")
	s, other := testStore(t, dir), testStore(t, dir)
	mustTry(t, s, "m", time.Minute)
	st, err := other.session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	inside, goOn, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- st.db.write(t.Context(), func(*queries) error {
			close(inside)
			<-goOn
			return nil
		})
	}()
	<-inside
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Try(ctx, ask("n", time.Minute)); !errors.Is(err, driver.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Try said %v, want %v by its ctx", err, driver.ErrUnavailable)
	}
	tried := make(chan error)
	go func() {
		_, err := s.Try(t.Context(), ask("n", time.Minute))
		tried <- err
	}()
	if err := s.Close(t.Context()); err != nil {
		t.Errorf("Close said %v", err)
	}
	if err := <-tried; !errors.Is(err, driver.ErrClosed) {
		t.Errorf("Try said %v, want %v", err, driver.ErrClosed)
	}
	close(goOn)
	if err := <-done; err != nil {
		t.Error(err)
	}
	mustTry(t, other, "n", time.Minute)
}

// TestReplacedForAll: who comes late to a session that has ended does not wait
// for its end to end.
func TestReplacedForAll(t *testing.T) {
	s := testStore(t, filepath.Join(t.TempDir(), "locks"))
	old, err := s.session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.replace(t.Context(), old)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := old.db.write(ctx, func(*queries) error { return nil }); !errors.Is(err, errReplaced) {
		t.Errorf("a write in a closed database said %v, want %v", err, errReplaced)
	}
	mustTry(t, s, "n", time.Minute)
}

func TestTokenLimit(t *testing.T) {
	s := testStore(t, filepath.Join(t.TempDir(), "locks"))
	mustRelease(t, s, mustTry(t, s, "n", time.Minute).Hold)
	change(t, s, fmt.Sprint("UPDATE names SET token = ", int64(maxToken)))
	if _, err := s.Try(t.Context(), ask("n", time.Minute)); !errors.Is(err, driver.ErrCorrupt) {
		t.Errorf("Try beyond the last token said %v, want %v", err, driver.ErrCorrupt)
	}
	if n := number(t, s, "SELECT count(*) FROM holds"); n != 0 {
		t.Error("something was taken")
	}
}

// TestLongestTTL must not wrap around.
func TestLongestTTL(t *testing.T) {
	s := testStore(t, filepath.Join(t.TempDir(), "locks"))
	g := mustTry(t, s, "n", 1<<63-1)
	if b := mustNotTry(t, s, "n"); b.Left < time.Hour || g.Validity.TTL < time.Hour {
		t.Errorf("a hold for ever has %v left", b.Left)
	}
	mustRelease(t, s, g.Hold)
}

func TestSweep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locks")
	s := testStore(t, dir)
	// The rows and the file of a client that died long ago.
	change(t, s, `INSERT INTO clients VALUES ('dead', '', '', 0, '', '', 0);
		INSERT INTO holds VALUES ('n', 'dead:1', 1, 1, 1, 'dead', 'another', 0, 0, 0);
		INSERT INTO waiters VALUES ('m', 'dead:2', 'dead')`)
	f, err := place{dir: dir}.create("client-dead")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	// And those of one that closed with a hold.
	closed := testStore(t, dir)
	mustTry(t, closed, "c", time.Hour)
	if err := closed.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	change(t, s, "UPDATE holds SET expires = 0 WHERE name = 'c'")
	count := "SELECT (SELECT count(*) FROM holds) + (SELECT count(*) FROM waiters) + (SELECT count(*) FROM clients) - 1"
	again := testStore(t, dir)
	if err := again.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := number(t, s, count); n != 6 {
		t.Fatalf("%d rows are left within the hour of the last sweep, want 6", n)
	}
	change(t, s, "UPDATE meta SET value = value - 3601 WHERE key = 'swept'")
	if err := errors.Join(again.Close(t.Context()), testStore(t, dir).Ping(t.Context())); err != nil {
		t.Fatal(err)
	}
	if n := number(t, s, count); n != 1 {
		t.Errorf("%d rows are left, want the new client's only", n)
	}
}

// TestCapacity: hundreds of clients, one of which holds ten thousand names.
func TestCapacity(t *testing.T) {
	const clients, names = 200, 10_000
	dir := filepath.Join(t.TempDir(), "locks")
	for i := range clients {
		mustTry(t, testStore(t, dir), fmt.Sprint("client", i), time.Hour)
	}
	s := testStore(t, dir)
	first := mustTry(t, s, "first", time.Hour)
	change(t, s, fmt.Sprintf(`
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO holds SELECT 'name' || i, owner, kind, state, token, client, boot, since, expires, life
		FROM n, (SELECT * FROM holds WHERE name = 'first')`, names))
	all, err := s.Inspect(t.Context(), "")
	if err != nil || len(all) != clients+1+names {
		t.Fatalf("Inspect shows %d holds, %v: want %d", len(all), err, clients+1+names)
	}
	hs := make([]driver.Hold, names)
	for i := range hs {
		hs[i] = first.Hold
		hs[i].Name = fmt.Sprint("name", i+1)
	}
	renewed := map[int]bool{}
	s.Renew(t.Context(), hs, func(i int, v driver.Validity, err error) {
		if err != nil || v.TTL < time.Hour || renewed[i] {
			t.Fatalf("hold %d: %v, %v, renewed before: %v", i, v, err, renewed[i])
		}
		renewed[i] = true
	})
	if len(renewed) != names {
		t.Errorf("%d of %d holds were renewed", len(renewed), names)
	}
	mustRelease(t, s, hs[names-1])
	mustNotTry(t, s, hs[0].Name)
}

func BenchmarkTryRelease(b *testing.B) {
	s, err := NewStore(&Options{Dir: filepath.Join(b.TempDir(), "locks")})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close(b.Context())
	for b.Loop() {
		g := mustTry(b, s, "n", time.Minute)
		mustRelease(b, s, g.Hold)
	}
}

// BenchmarkOpen is what a short-lived command pays.
func BenchmarkOpen(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "locks")
	for b.Loop() {
		s, err := NewStore(&Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		mustRelease(b, s, mustTry(b, s, "n", time.Minute).Hold)
		if err := s.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
