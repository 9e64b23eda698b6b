package drivertest

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// weather is the state of the network and of the store's machine.
type weather struct {
	cut    bool
	cutErr error
	frozen bool
	epoch  context.Context // ends when the weather changes
	end    context.CancelFunc
}

func (f *Faulty) weather() *weather {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// change replaces the weather by a changed copy.
func (f *Faulty) change(set func(w *weather)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := *f.now
	set(&w)
	w.epoch, w.end = context.WithCancel(f.life)
	f.now.end()
	f.now = &w
}

func (f *Faulty) connected() bool { return !f.weather().cut }

// thawed waits while the store is frozen and reports whether life goes on.
func (f *Faulty) thawed(life context.Context) bool {
	for w := f.weather(); w.frozen && life.Err() == nil; w = f.weather() {
		<-w.epoch.Done() // which ends with life, too
	}
	return life.Err() == nil
}

// answer is what the store said to one request.
type answer[R any] struct {
	value R
	err   error
}

// carry takes one request through the network and waits for its answer as long
// as ctx. Without any fault the store is called directly.
func carry[R any](ctx context.Context, f *Faulty, fault Fault, call func(context.Context) (R, error)) (R, error) {
	var none R
	if f.life.Err() != nil {
		return none, driver.ErrClosed
	}
	if ctx.Err() != nil {
		return none, fmt.Errorf("%w: %w", driver.ErrUnavailable, ctx.Err())
	}
	if w := f.weather(); fault.none() && !w.cut && !w.frozen {
		return call(ctx)
	}
	reply := make(chan answer[R], 1)
	t := trip[R]{f: f, fault: fault, call: call, reply: reply}
	f.spawn(func(life context.Context) { t.run(context.WithoutCancel(ctx), life) })
	select {
	case a := <-reply:
		return a.value, a.err
	case <-ctx.Done():
		return none, fmt.Errorf("%w: %w", driver.ErrUnknown, ctx.Err())
	case <-f.life.Done():
		return none, driver.ErrClosed
	}
}

// trip is the way of one request and its reply. It goes on when the caller has
// left.
type trip[R any] struct {
	f     *Faulty
	fault Fault
	call  func(context.Context) (R, error)
	reply chan<- answer[R]
}

// run takes the values of the caller's ctx, not its end. It returns without a
// reply where a network would be silent.
func (t trip[R]) run(values, life context.Context) {
	if !sleep(life, t.fault.Before) {
		return
	}
	t.repeat(values)
	if t.fault.LoseRequest {
		t.fail(t.fault.Err)
		return
	}
	a, ok := t.deliver(values, life)
	if ok && t.fault.LoseReply {
		t.fail(t.fault.Err)
		return
	}
	if ok && !sleep(life, t.fault.After) {
		return
	}
	if w := t.f.weather(); !ok || w.cut {
		t.fail(w.cutErr)
		return
	}
	t.reply <- a
}

// repeat sends the copies on their way.
func (t trip[R]) repeat(values context.Context) {
	for _, d := range t.fault.Again {
		t.f.spawn(func(life context.Context) {
			if sleep(life, d) {
				_, _ = t.deliver(values, life)
			}
		})
	}
}

// deliver lets the store execute the request, or reports false if the request
// does not get through.
func (t trip[R]) deliver(values, life context.Context) (a answer[R], ok bool) {
	if !t.f.connected() || !t.f.thawed(life) {
		return a, false
	}
	ctx, cancel := context.WithCancel(values)
	defer cancel()
	defer context.AfterFunc(life, cancel)()
	a.value, a.err = t.call(ctx)
	return a, true
}

// fail tells the caller err, or nothing at all.
func (t trip[R]) fail(err error) {
	if err != nil {
		t.reply <- answer[R]{err: err}
	}
}

// spawn runs fn in a goroutine that Close ends and waits for.
func (f *Faulty) spawn(fn func(life context.Context)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.travel.Go(func() { fn(f.life) })
	}
}

// sleep waits for d and reports whether ctx still lives.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	return either(ctx, timer.C, nil) == nil
}
