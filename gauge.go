package holdfast

import (
	"context"
	"sync"
)

// gauge counts what is under way and lets one wait until nothing is. Unlike a
// sync.WaitGroup it may be waited for with a context, and grow meanwhile.
type gauge struct {
	mu   sync.Mutex // guards the following
	n    int
	zero chan struct{} // closed when n becomes 0; nil while nobody waits
}

func (g *gauge) add(delta int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n += delta
	if g.n == 0 && g.zero != nil {
		close(g.zero)
		g.zero = nil
	}
}

func (g *gauge) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.n
}

// wait returns nil once the count is 0, or ctx's error.
func (g *gauge) wait(ctx context.Context) error {
	g.mu.Lock()
	if g.n == 0 {
		g.mu.Unlock()
		return nil
	}
	if g.zero == nil {
		g.zero = make(chan struct{})
	}
	zero := g.zero
	g.mu.Unlock()
	select {
	case <-zero:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
