package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/store/memstore"
)

// TryLock does not wait. Its error says who has the lock; Holder knows more.
func ExampleMutex_TryLock() {
	server := memstore.NewServer()
	first, err := memstore.New(server, &memstore.Options{Client: holdfast.Options{Label: "worker 1"}})
	if err != nil {
		log.Fatal(err)
	}
	defer first.Close(context.Background())
	second, err := memstore.New(server, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer second.Close(context.Background())

	lease, err := first.Mutex("import", nil).Lock(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock()

	_, err = second.Mutex("import", nil).TryLock(context.Background())
	var held *holdfast.HeldError
	if errors.As(err, &held) {
		fmt.Println("held as a", held.Kind, "for at most 30 s:", time.Until(held.Until) <= 30*time.Second)
	}
	holder, err := second.Holder(context.Background(), "import")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("held by", holder.Label)
	// Output:
	// held as a mutex for at most 30 s: true
	// held by worker 1
}

// A timed-out wait is told from a held lock that was not waited for.
func ExampleHeldError() {
	locks, err := memstore.New(memstore.NewServer(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close(context.Background())
	lease, err := locks.Mutex("import", nil).Lock(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock()

	patient := locks.Mutex("import", &holdfast.MutexOptions{Wait: 10 * time.Millisecond})
	_, err = patient.Lock(context.Background())
	fmt.Println("held:", errors.Is(err, holdfast.ErrHeld))
	fmt.Println("waited in vain:", errors.Is(err, context.DeadlineExceeded))
	// Output:
	// held: true
	// waited in vain: true
}
