package holdfast

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// Close ends the client. Goroutines that wait for a lock get ErrClosed; leases
// end with that cause but stay held. Close waits until each lease was unlocked
// or has passed its deadline, gives back what is left over, and closes the store,
// or does the last at once when ctx ends; then it returns ctx's error with the
// number of locks that their TTL must free. Later calls wait for the first.
func (c *Client) Close(ctx context.Context) error {
	c.mu.Lock()
	first := !c.closing
	c.closing = true
	holds := slices.Collect(maps.Keys(c.holds))
	c.mu.Unlock()
	if !first {
		select {
		case <-c.closed:
			return c.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	c.queues.close()
	for _, h := range holds {
		h.end(ErrClosed)
	}
	c.err = wrap("close", "", join(c.finish(ctx), c.shutDown(ctx)))
	close(c.closed)
	return c.err
}

// finish waits for acquisitions, unlocks and give-backs.
func (c *Client) finish(ctx context.Context) error {
	err := c.asking.wait(ctx)
	if err == nil {
		err = c.live.wait(ctx)
	}
	if n := c.live.count(); err != nil && n > 0 {
		return join(err, fmt.Errorf("%d locks were not unlocked; their TTL frees them", n))
	}
	if err == nil {
		err = c.reaper.drain(ctx)
	}
	return err
}

// shutDown stops the client's goroutines and closes the store. Where ctx has
// ended the store gets the time of one request, since with none it could not
// free what it uses.
func (c *Client) shutDown(ctx context.Context) error {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), c.timeout)
		defer cancel()
	}
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.stop()
	err := c.store.Close(ctx)
	c.tasks.Wait()
	return err
}
