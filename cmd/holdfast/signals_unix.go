//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// sigCont wakes a stopped process.
const sigCont = syscall.SIGCONT

// endingSignals end a wait: those whose usual effect is to end a process.
func endingSignals() []os.Signal {
	return []os.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
	}
}

// passedSignals are passed on too and mean nothing to a wait.
func passedSignals() []os.Signal {
	return []os.Signal{syscall.SIGCONT, syscall.SIGWINCH}
}

func ending(s os.Signal) (syscall.Signal, bool) {
	n, ok := s.(syscall.Signal)
	return n, ok && n != syscall.SIGCONT && n != syscall.SIGWINCH
}

// survivePipe keeps a reader of our messages that went away from ending us, and
// with us the command.
func survivePipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// signalName is the conventional name, such as SIGTERM.
func signalName(s os.Signal) string {
	n, _ := s.(syscall.Signal)
	return unix.SignalName(n)
}
