package main

import (
	"os"
	"syscall"
)

// sigCont does not exist here.
const sigCont = syscall.Signal(-1)

// endingSignals end a wait.
func endingSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// passedSignals is empty: Windows has no others.
func passedSignals() []os.Signal { return nil }

func ending(s os.Signal) (syscall.Signal, bool) {
	n, ok := s.(syscall.Signal)
	return n, ok
}

func survivePipe() {}

// signalName has no conventional names to give here.
func signalName(s os.Signal) string { return s.String() }
