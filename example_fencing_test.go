package holdfast_test

import (
	"context"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
)

// table is a resource that lets nobody write with a token smaller than one that
// it has seen: in SQL, UPDATE … SET token = $1 … WHERE token <= $1.
type table struct {
	mu     sync.Mutex // guards the following
	newest int64
	rows   []string
}

func (t *table) write(token int64, row string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if token < t.newest {
		return fmt.Errorf("stale token: %q is not written", row)
	}
	t.newest = token
	t.rows = append(t.rows, row)
	return nil
}

// No lock can stop a process that was paused right between its last check and
// its write. A resource that compares fencing tokens can.
func ExampleLease_Token() {
	lab := holdfasttest.New()
	defer lab.Close()
	lock := func(c *holdfasttest.Client) *holdfast.Lease {
		lease, err := c.Mutex("table", &holdfast.MutexOptions{TTL: time.Second}).Lock(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		return lease
	}
	var t table

	paused := lock(lab.Client(nil))
	lab.Lose("table") // the store is restored from a backup, say
	next := lock(lab.Client(nil))

	fmt.Println(t.write(next.Token(), "from the new holder"))
	fmt.Println(t.write(paused.Token(), "from the paused one"))
	fmt.Println(t.rows)
	// Output:
	// <nil>
	// stale token: "from the paused one" is not written
	// [from the new holder]
}
