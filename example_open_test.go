package holdfast_test

import (
	"context"
	"fmt"
	"log"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/store/memstore"
)

// tenants are places for locks that one program keeps apart.
var tenants = map[string]*memstore.Server{
	"tenant:red": memstore.NewServer(), "tenant:blue": memstore.NewServer(),
}

func init() { holdfast.Register("tenant", openTenant) }

func openTenant(_ context.Context, url string, o *holdfast.Options) (*holdfast.Client, error) {
	server := tenants[url]
	if server == nil {
		return nil, fmt.Errorf("%w: no such tenant", holdfast.ErrInvalid)
	}
	if o == nil {
		o = &holdfast.Options{}
	}
	return memstore.New(server, &memstore.Options{Client: *o})
}

// A store becomes known to Open by registering its scheme, from init as a rule.
func ExampleRegister() {
	for _, url := range []string{"tenant:red", "tenant:blue", "tenant:grey"} {
		locks, err := holdfast.Open(context.Background(), url, nil)
		if err != nil {
			fmt.Println(err)
			continue
		}
		defer locks.Close(context.Background())
		lease, err := locks.Mutex("job", nil).TryLock(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		defer lease.Unlock()
		fmt.Println(url, "works")
	}
	// Output:
	// tenant:red works
	// tenant:blue works
	// open store "tenant:grey": invalid: no such tenant
}
