package docs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
	"github.com/holdfast-go/holdfast/store/memstore"
	"github.com/holdfast-go/holdfast/store/sqlitestore"
)

// The code of the guides, and tests that run it.

func inProcess() (*holdfast.Client, error) {
	return memstore.New(nil, nil) // a place of its own
}

func onThisMachine(ctx context.Context) (*holdfast.Client, error) {
	return sqlitestore.Open(ctx, "sqlite:/srv/app/locks", nil)
}

// onThisMachine is compiled only: it names a folder of the reader's.
var _ = onThisMachine

// open returns a client that the test closes.
func open(t *testing.T) *holdfast.Client {
	t.Helper()
	locks, err := inProcess()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := locks.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return locks
}

func report(ctx context.Context, locks *holdfast.Client) error {
	m := locks.Mutex("report", &holdfast.MutexOptions{AtLeast: time.Minute, MaxHold: time.Hour})
	err := m.TryDo(ctx, func(ctx context.Context, _ *holdfast.Lease) error {
		return writeReport(ctx)
	})
	if errors.Is(err, holdfast.ErrHeld) {
		return nil // another process runs it, or ran it within the minute
	}
	return err
}

// reports counts calls of writeReport.
var reports int

func writeReport(context.Context) error {
	reports++
	return nil
}

func TestCronGuide(t *testing.T) {
	locks := open(t)
	for range 3 {
		if err := report(t.Context(), locks); err != nil {
			t.Fatal(err)
		}
	}
	if reports != 1 {
		t.Errorf("%d reports were written, want 1", reports)
	}
}

func setBalance(ctx context.Context, db *sql.DB, id string, balance, token int64) error {
	r, err := db.ExecContext(ctx,
		`UPDATE account SET balance = ?, token = ? WHERE id = ? AND token <= ?`,
		balance, token, id, token)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return fmt.Errorf("account %s was written under a later lock than %d: stop", id, token)
}

func addInterest(ctx context.Context, locks *holdfast.Client, db *sql.DB, id string) error {
	return locks.Do(ctx, "account:"+id, func(ctx context.Context, lease *holdfast.Lease) error {
		balance, err := readBalance(ctx, db, id)
		if err != nil {
			return err
		}
		return setBalance(ctx, db, id, balance+balance/100, lease.Token())
	})
}

func readBalance(ctx context.Context, db *sql.DB, id string) (balance int64, err error) {
	err = db.QueryRowContext(ctx, `SELECT balance FROM account WHERE id = ?`, id).Scan(&balance)
	return balance, err
}

func TestTokenGuide(t *testing.T) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a database of its own
	_, err = db.Exec(`CREATE TABLE account (id TEXT PRIMARY KEY, balance INTEGER, token INTEGER);
		INSERT INTO account VALUES ('a', 1000, 0)`)
	if err != nil {
		t.Fatal(err)
	}
	locks := open(t)
	for range 2 {
		if err := addInterest(t.Context(), locks, db, "a"); err != nil {
			t.Fatal(err)
		}
	}
	if err := setBalance(t.Context(), db, "a", 0, 1); err == nil {
		t.Error("a write with the first token was accepted after one with the second")
	}
	if got, err := readBalance(t.Context(), db, "a"); got != 1020 || err != nil {
		t.Errorf("balance %d, error %v, want 1020", got, err)
	}
}

func work(ctx context.Context, locks *holdfast.Client, steps []func(context.Context) error) error {
	err := locks.Do(ctx, "steps", func(ctx context.Context, lease *holdfast.Lease) error {
		for _, step := range steps {
			if err := lease.Check(); err != nil {
				return err // do not begin what cannot be finished
			}
			if err := step(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, holdfast.ErrLost) {
		return fmt.Errorf("the last step may be half done: %w", err)
	}
	return err
}

func TestWorkStopsWhenTheNetworkFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // time in here is virtual
		lab := holdfasttest.New()
		defer lab.Close()
		worker, rival := lab.Client(nil), lab.Client(nil)

		begun := 0
		step := func(ctx context.Context) error {
			if begun++; begun == 2 {
				worker.Partition()
				<-ctx.Done() // the lease ends, half a minute later
			}
			return nil
		}
		err := work(t.Context(), worker.Client, []func(context.Context) error{step, step, step})
		if !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("work returned %v, want ErrLost", err)
		}
		if begun != 2 {
			t.Errorf("%d steps were begun, want 2", begun)
		}
		if _, err := rival.Mutex("steps", nil).TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
			t.Errorf("the margin has not passed, and the rival got %v", err)
		}
	})
}
