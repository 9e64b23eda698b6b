package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
	"github.com/holdfast-go/holdfast/store/memstore"
)

// Lock and a lease are for work that does not fit into one function. The context
// given to Lock bounds the wait only.
func ExampleMutex_Lock() {
	locks, err := memstore.New(memstore.NewServer(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close(context.Background())

	m := locks.Mutex("invoice:42", &holdfast.MutexOptions{TTL: 10 * time.Second})
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	lease, err := m.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("holding", lease.Name())
	if err := lease.Unlock(); err != nil {
		log.Fatal(err) // ErrLost: the work may have run while another held the lock
	}
	// Output: holding invoice:42
}

// A context bound to the lease ends when the lock is lost. Check is for use right
// before an effect that cannot be undone.
func ExampleLease_Bind() {
	lab := holdfasttest.New()
	defer lab.Close()
	lease, err := lab.Client(nil).Mutex("report", &holdfast.MutexOptions{TTL: 300 * time.Millisecond}).Lock(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock()

	ctx := lease.Bind(context.Background()) // for the calls of a database, for instance
	lab.Lose("report")                      // the store forgets who holds it
	<-ctx.Done()

	fmt.Println("lost:", errors.Is(context.Cause(ctx), holdfast.ErrLost))
	if err := lease.Check(); err != nil {
		fmt.Println("nothing is sent any more")
	}
	// Output:
	// lost: true
	// nothing is sent any more
}

// A cron job that all machines start at the same second runs on one of them: the
// name stays taken for a minute after the grant, however short the job.
func ExampleMutexOptions_atLeast() {
	machines := memstore.NewServer()
	for range 3 {
		locks, err := memstore.New(machines, nil)
		if err != nil {
			log.Fatal(err)
		}
		defer locks.Close(context.Background())
		job := locks.Mutex("nightly-report", &holdfast.MutexOptions{AtLeast: time.Minute})
		err = job.TryDo(context.Background(), func(context.Context, *holdfast.Lease) error {
			fmt.Println("report sent")
			return nil
		})
		if errors.Is(err, holdfast.ErrHeld) {
			fmt.Println("another machine does it")
		}
	}
	// Output:
	// report sent
	// another machine does it
	// another machine does it
}

// Functions that lock may call each other under Reentrant, which has to be asked
// for: by default two goroutines under one context exclude each other.
func ExampleMutexOptions_reentrant() {
	locks, err := memstore.New(memstore.NewServer(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close(context.Background())

	account := locks.Mutex("account:7", &holdfast.MutexOptions{Reentrant: true})
	withdraw := func(ctx context.Context, amount int) error {
		return account.Do(ctx, func(context.Context, *holdfast.Lease) error {
			fmt.Println("withdraw", amount)
			return nil
		})
	}
	err = account.Do(context.Background(), func(ctx context.Context, _ *holdfast.Lease) error {
		if err := withdraw(ctx, 20); err != nil { // enters again by ctx
			return err
		}
		return withdraw(ctx, 30)
	})
	fmt.Println(err)
	// Output:
	// withdraw 20
	// withdraw 30
	// <nil>
}
