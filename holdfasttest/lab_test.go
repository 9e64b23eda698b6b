package holdfasttest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
)

// inLab runs f in a bubble, with a lab of its own and two clients.
func inLab(t *testing.T, f func(t *testing.T, lab *holdfasttest.Lab, a, b *holdfasttest.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		lab := holdfasttest.New()
		defer lab.Close()
		f(t, lab, lab.Client(nil), lab.Client(nil))
	})
}

func lock(t *testing.T, c *holdfasttest.Client, o *holdfast.MutexOptions) *holdfast.Lease {
	t.Helper()
	l, err := c.Mutex("k", o).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// ends waits for the end of l and checks when and why it came.
func ends(t *testing.T, l *holdfast.Lease, want error, atMost time.Duration) {
	t.Helper()
	start := time.Now()
	<-l.Context().Done()
	if cause := context.Cause(l.Context()); !errors.Is(cause, want) {
		t.Errorf("the lease ended with %v, want %v", cause, want)
	}
	if took := time.Since(start); took > atMost {
		t.Errorf("the lease ended after %v, want at most %v", took, atMost)
	}
}

func TestClientsExcludeEachOther(t *testing.T) {
	inLab(t, func(t *testing.T, _ *holdfasttest.Lab, a, b *holdfasttest.Client) {
		l := lock(t, a, nil)
		if _, err := b.Mutex("k", nil).TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
			t.Errorf("TryLock: %v", err)
		}
		if err := l.Unlock(); err != nil {
			t.Error(err)
		}
		lock(t, b, nil)
	})
}

func TestLose(t *testing.T) {
	inLab(t, func(t *testing.T, lab *holdfasttest.Lab, a, b *holdfasttest.Client) {
		if lab.Lose("k") {
			t.Error("lost what nobody held")
		}
		l := lock(t, a, nil)
		if !lab.Lose("k") {
			t.Error("not lost")
		}
		if err := l.Check(); err != nil {
			t.Errorf("told at once: %v", err)
		}
		rival := lock(t, b, nil)
		ends(t, l, holdfast.ErrLost, 10*time.Second)
		if err := l.Unlock(); !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("Unlock: %v", err)
		}
		if err := rival.Unlock(); err != nil {
			t.Errorf("the rival's Unlock: %v", err)
		}
	})
}

func TestRevoke(t *testing.T) {
	inLab(t, func(t *testing.T, lab *holdfasttest.Lab, a, b *holdfasttest.Client) {
		if lab.Revoke("k") {
			t.Error("revoked what nobody held")
		}
		l := lock(t, a, nil)
		if !lab.Revoke("k") {
			t.Error("not revoked")
		}
		ends(t, l, holdfast.ErrRevoked, 0)
		if _, err := b.Mutex("k", nil).TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
			t.Errorf("TryLock before the holder's Unlock: %v", err)
		}
		if err := l.Unlock(); err != nil {
			t.Error(err)
		}
		lock(t, b, nil)
	})
}

// A name that only rests has no holder to lose it.
func TestLoseResting(t *testing.T) {
	inLab(t, func(t *testing.T, lab *holdfasttest.Lab, a, _ *holdfasttest.Client) {
		if err := lock(t, a, &holdfast.MutexOptions{AtLeast: time.Minute}).Unlock(); err != nil {
			t.Fatal(err)
		}
		if lab.Lose("k") || lab.Revoke("k") {
			t.Error("took a resting name away")
		}
	})
}

func TestPartition(t *testing.T) {
	inLab(t, func(t *testing.T, lab *holdfasttest.Lab, a, b *holdfasttest.Client) {
		l := lock(t, a, nil)
		a.Partition()
		lab.Revoke("k") // which it does not hear of
		if err := l.Check(); err != nil {
			t.Error(err)
		}
		time.Sleep(20 * time.Second)
		a.Heal()
		ends(t, l, holdfast.ErrRevoked, 4*time.Second) // a request under way, and a pause
		if err := l.Unlock(); err != nil {
			t.Error(err)
		}

		l = lock(t, a, nil)
		a.Partition()
		lock(t, b, nil) // the other client is not cut off
		ends(t, l, holdfast.ErrLost, 0)
	})
}

func TestDelay(t *testing.T) {
	inLab(t, func(t *testing.T, _ *holdfasttest.Lab, a, b *holdfasttest.Client) {
		a.Delay(time.Second)
		start := time.Now()
		l := lock(t, a, nil)
		if took := time.Since(start); took != time.Second {
			t.Errorf("Lock took %v, want 1s", took)
		}
		if err := l.Unlock(); err != nil || time.Since(start) != 2*time.Second {
			t.Errorf("Unlock: %v after %v, want 2s", err, time.Since(start))
		}
		a.Delay(0)
		start = time.Now()
		l = lock(t, a, nil)
		if took := time.Since(start); took != 0 {
			t.Errorf("Lock took %v, want nothing", took)
		}
		a.Delay(time.Minute) // no renewal arrives in time
		ends(t, l, holdfast.ErrLost, 30*time.Second)
		lock(t, b, nil)
	})
}

func TestFreeze(t *testing.T) {
	inLab(t, func(t *testing.T, lab *holdfasttest.Lab, a, b *holdfasttest.Client) {
		l := lock(t, a, nil)
		lab.Freeze()
		late := lab.Client(nil)
		for _, c := range []*holdfasttest.Client{b, late} {
			if _, err := c.Mutex("other", nil).TryLock(t.Context()); !errors.Is(err, holdfast.ErrUnavailable) {
				t.Errorf("TryLock at a frozen store: %v", err)
			}
		}
		time.Sleep(10 * time.Second)
		lab.Thaw()
		time.Sleep(time.Hour)
		if err := l.Check(); err != nil {
			t.Errorf("after a short freeze: %v", err)
		}
		if _, err := late.Mutex("other", nil).TryLock(t.Context()); err != nil {
			t.Errorf("TryLock after the freeze: %v", err)
		}
		lab.Freeze()
		ends(t, l, holdfast.ErrLost, 30*time.Second)
	})
}

// Close ends whatever state the lab is in, and everything that its clients do.
func TestClose(t *testing.T) {
	for name, spoil := range map[string]func(*holdfasttest.Lab, *holdfasttest.Client){
		"sound":       func(*holdfasttest.Lab, *holdfasttest.Client) {},
		"frozen":      func(lab *holdfasttest.Lab, _ *holdfasttest.Client) { lab.Freeze() },
		"partitioned": func(_ *holdfasttest.Lab, c *holdfasttest.Client) { c.Partition() },
		"slow":        func(_ *holdfasttest.Lab, c *holdfasttest.Client) { c.Delay(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			inLab(t, func(t *testing.T, lab *holdfasttest.Lab, a, _ *holdfasttest.Client) {
				l := lock(t, a, nil)
				spoil(lab, a)
				waited := make(chan error)
				go func() {
					_, err := a.Mutex("k", nil).Lock(context.Background())
					waited <- err
				}()
				time.Sleep(11 * time.Second) // a renewal is under way
				start := time.Now()
				lab.Close()
				if took := time.Since(start); took > 0 {
					t.Errorf("Close took %v", took)
				}
				if err := <-waited; !errors.Is(err, holdfast.ErrClosed) {
					t.Errorf("Lock: %v", err)
				}
				if err := l.Check(); !errors.Is(err, holdfast.ErrClosed) {
					t.Errorf("Check: %v", err)
				}
				lab.Close() // again does no harm
			})
		})
	}
}

func TestClientPanicsOnBadOptions(t *testing.T) {
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, holdfast.ErrInvalid) {
			t.Errorf("recovered %v", err)
		}
	}()
	holdfasttest.New().Client(&holdfast.Options{Timeout: -1})
}
