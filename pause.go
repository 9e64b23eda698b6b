package holdfast

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff is the pause after the nth failure in a row: about 50 ms, doubling up
// to about a second.
func backoff(n int) time.Duration {
	return jitter(min(50*time.Millisecond<<min(n-1, 10), time.Second))
}

// jitter spreads d over [d/2, 3d/2), so that clients do not move in step.
func jitter(d time.Duration) time.Duration {
	return d/2 + rand.N(d)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
