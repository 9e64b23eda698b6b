package main

import (
	"context"
	"os"
	"os/signal"
)

// catchSignals collects what shall end a wait or reach the command. A signal
// that our parent told us to ignore, as nohup does, stays ignored, for the
// command too.
func catchSignals() chan os.Signal {
	sigs := make(chan os.Signal, 16)
	for _, s := range append(endingSignals(), passedSignals()...) {
		if !signal.Ignored(s) {
			signal.Notify(sigs, s)
		}
	}
	survivePipe()
	return sigs
}

// untilSignal returns a context that ends, with a *signalError, at the first
// ending signal. After stop, signals stay in sigs for whoever reads next.
func untilSignal(sigs <-chan os.Signal) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case s := <-sigs:
				if n, ends := ending(s); ends {
					cancel(&signalError{n})
					return
				}
			case <-quit:
				return
			}
		}
	}()
	return ctx, func() {
		close(quit)
		<-done
	}
}
