package main

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast"
)

const (
	firstLook = 250 * time.Millisecond // most waits end before
	nextLook  = time.Second
)

// watch shows what a wait is waiting for, until its stop is called.
type watch struct {
	ui     *ui
	client *holdfast.Client
	name   string
	scope  string // of an embedded store
	start  time.Time
	last   holder
	told   bool
}

// startWatch starts one goroutine where somebody looks; stop ends it, waits for
// it, and clears the line.
func startWatch(ctx context.Context, w *watch) (stop func()) {
	if !w.ui.shows() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	w.start = time.Now()
	go func() {
		defer close(done)
		w.run(ctx)
	}()
	return func() {
		cancel()
		<-done
		w.ui.clear()
	}
}

func (w *watch) run(ctx context.Context) {
	t := time.NewTimer(firstLook)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			w.look(ctx)
			t.Reset(nextLook)
		}
	}
}

// look asks the store once. Trouble is left to the wait itself.
func (w *watch) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, nextLook)
	defer cancel()
	h, err := w.client.Holder(ctx, w.name)
	switch {
	case ctx.Err() != nil && err != nil:
	case err != nil:
		w.show(nil)
	default:
		w.show(holderOf(h))
	}
}

func (w *watch) show(h *holder) {
	waited := time.Since(w.start)
	if w.ui.json {
		w.tell(h, waited)
		return
	}
	text := fmt.Sprintf("waiting %s for %q", short(waited), w.name)
	if h != nil {
		text += ", " + h.String()
	}
	if w.scope != "" {
		text += " [" + w.scope + "]"
	}
	w.ui.draw(text)
}

// tell reports a holder once, not every second.
func (w *watch) tell(h *holder, waited time.Duration) {
	if h == nil || w.told && h.Owner == w.last.Owner && h.Resting == w.last.Resting {
		return
	}
	w.last, w.told = *h, true
	w.ui.tell(event{Event: "waiting", Name: w.name, Holder: h, Waited: seconds(waited), Message: w.scope})
}
