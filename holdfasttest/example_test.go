package holdfasttest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
)

// importFeed is the code under test. It must not write once the lock is lost.
func importFeed(ctx context.Context, locks *holdfast.Client, write func(row int)) error {
	return locks.Do(ctx, "feed", func(ctx context.Context, lease *holdfast.Lease) error {
		for row := 0; ; row++ {
			if err := lease.Check(); err != nil {
				return err
			}
			write(row)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Second):
			}
		}
	})
}

// A partition must stop the import before anybody else can have the lock. In a
// bubble this takes no time, though the TTL is half a minute.
func TestImportStopsWhenPartitioned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := holdfasttest.New()
		defer lab.Close()
		worker, rival := lab.Client(nil), lab.Client(nil)

		var lastWrite time.Time
		imported := make(chan error, 1)
		go func() {
			imported <- importFeed(t.Context(), worker.Client, func(int) { lastWrite = time.Now() })
		}()
		time.Sleep(time.Hour)
		worker.Partition()

		lease, err := rival.Mutex("feed", nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer lease.Unlock()
		select {
		case err := <-imported:
			if !errors.Is(err, holdfast.ErrLost) {
				t.Errorf("import: %v, want a lost lock", err)
			}
		default:
			t.Error("the import still runs although another has the lock")
		}
		if !lastWrite.Before(time.Now()) {
			t.Error("the import wrote after it had lost the lock")
		}
	})
}

// Outside of a bubble a short TTL does. Code under test often fixes the TTL; here
// the lock is lost at once instead of at the end of it.
func Example() {
	lab := holdfasttest.New()
	defer lab.Close()
	locks := lab.Client(nil)

	m := locks.Mutex("feed", &holdfast.MutexOptions{TTL: 300 * time.Millisecond})
	err := m.Do(context.Background(), func(ctx context.Context, lease *holdfast.Lease) error {
		lab.Lose("feed")
		<-ctx.Done() // the work must watch this
		return ctx.Err()
	})
	fmt.Println(errors.Is(err, holdfast.ErrLost))
	// Output: true
}
