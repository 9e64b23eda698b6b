package holdfast_test

import (
	"context"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// deaf is a store that cannot refuse requests which arrive late.
type deaf struct{ driver.Store }

func (s deaf) Try(ctx context.Context, r driver.Request) (driver.Grant, error) {
	r.NotAfter = time.Time{}
	return s.Store.Try(ctx, r)
}

// lostReply is a request that is executed although its caller hears of a broken
// connection.
func lostReply(again ...time.Duration) drivertest.Fault {
	return drivertest.Fault{LoseReply: true, Err: driver.ErrUnknown, Again: again}
}

// lostRequest never arrives, and its caller hears of a broken connection.
var lostRequest = drivertest.Fault{LoseRequest: true, Err: driver.ErrUnknown}

// contact lets c get its first answer ever.
func (w *world) contact(c *client) {
	w.Helper()
	w.unlock(w.lock(c, "first contact", nil))
	synctest.Wait()
}

// sleepTo sleeps until d after start, and until all that happens then is done.
func (w *world) sleepTo(start time.Time, d time.Duration) {
	time.Sleep(time.Until(start.Add(d)))
	synctest.Wait()
}

// lose makes the store forget what c holds under name, without a word to anybody.
func (w *world) lose(c *client, name string) {
	w.Helper()
	s := w.srv.Store()
	defer s.Close(context.Background())
	for _, call := range c.calls(drivertest.Try) {
		if call.Name != name {
			continue
		}
		r, err := s.Release(context.Background(), driver.Hold{Name: name, Kind: driver.Mutex, Owner: call.Owner})
		if err != nil {
			w.Fatal(err)
		}
		if r.Freed {
			return
		}
	}
	w.Fatalf("nothing to lose under %q", name)
}

// ended fails the test unless l's context ends d after start, to the
// nanosecond, with the given cause.
func (w *world) ended(l *holdfast.Lease, start time.Time, d time.Duration, cause error) {
	w.Helper()
	select {
	case <-l.Context().Done():
	case <-time.After(time.Until(start.Add(d + time.Minute))):
		w.Fatalf("the lease still lives a minute after %v", d)
	}
	if got := time.Since(start); got != d {
		w.Errorf("the lease ended after %v, want %v", got, d)
	}
	w.is(context.Cause(l.Context()), cause)
	w.is(l.Check(), cause)
	synctest.Wait() // the observer is told
}

// withProfile is a store that describes itself in another way.
type withProfile struct {
	driver.Store
	change func(*driver.Profile)
}

func (s withProfile) Profile() driver.Profile {
	p := s.Store.Profile()
	s.change(&p)
	return p
}
