package holdfast_test

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast"
	_ "github.com/holdfast-go/holdfast/store/memstore"
)

func chargeInvoice(ctx context.Context, store string) error {
	locks, err := holdfast.Open(ctx, store, nil) // "sqlite:" on this machine, "memory:jobs" in this process
	if err != nil {
		return err
	}
	defer locks.Close(ctx)
	return locks.Do(ctx, "invoice:42", func(ctx context.Context, lease *holdfast.Lease) error {
		return charge(ctx, lease.Token()) // ctx ends if the lock is lost
	})
}

func charge(ctx context.Context, token int64) error {
	fmt.Println("charged under a token:", token > 0)
	return ctx.Err()
}

func Example() {
	if err := chargeInvoice(context.Background(), "memory:jobs"); err != nil {
		fmt.Println(err)
	}
	// Output: charged under a token: true
}
