package drivertest

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Wait implements driver.Store. A fault of Wait can delay it (Before), delay the
// signal (After) or lose it (LoseReply): then Wait returns when b.Left has
// passed. A partition is trouble below, so Wait returns when the network heals
// or b.Left has passed.
func (f *Faulty) Wait(ctx context.Context, r driver.Request, b *driver.Busy) error {
	c := Call{N: f.number(), Method: Wait, Name: r.Name, Owner: r.Owner, Request: r}
	fault := f.record(c)
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(f.life, cancel)()
	err := f.wait(inner, fault, r, b)
	switch {
	case ctx.Err() != nil && err != nil:
		return ctx.Err()
	case f.life.Err() != nil:
		return driver.ErrClosed
	}
	return err
}

func (f *Faulty) wait(ctx context.Context, fault Fault, r driver.Request, b *driver.Busy) error {
	left, stop := after(b)
	defer stop()
	if !sleep(ctx, fault.Before) {
		return ctx.Err()
	}
	if f.connected() {
		if err := f.signalled(ctx, r, b); err != nil {
			return err
		}
	}
	if fault.LoseReply {
		return either(ctx, left, nil)
	}
	if !sleep(ctx, fault.After) {
		return ctx.Err()
	}
	return f.healed(ctx, left)
}

// signalled waits at the store behind, or until the network changes.
func (f *Faulty) signalled(ctx context.Context, r driver.Request, b *driver.Busy) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	epoch := f.weather().epoch
	defer context.AfterFunc(epoch, cancel)()
	err := f.inner.Wait(inner, r, b)
	if epoch.Err() != nil {
		return ctx.Err()
	}
	return err
}

// healed waits for the end of the partition, or of left.
func (f *Faulty) healed(ctx context.Context, left <-chan time.Time) error {
	for w := f.weather(); w.cut; w = f.weather() {
		if err := either(ctx, left, w.epoch.Done()); err != nil {
			return err
		}
		if f.weather() == w {
			return nil // left has passed
		}
	}
	return ctx.Err()
}

// after returns a channel that receives when b.Left has passed, and what frees
// it.
func after(b *driver.Busy) (<-chan time.Time, func()) {
	if b == nil || b.Left < 0 {
		return nil, func() {}
	}
	t := time.NewTimer(b.Left)
	return t.C, func() { t.Stop() }
}

// either waits for one of the channels, or returns the error of ctx.
func either(ctx context.Context, a <-chan time.Time, b <-chan struct{}) error {
	select {
	case <-a:
		return nil
	case <-b:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
