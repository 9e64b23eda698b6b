//go:build unix

package main

import (
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

// tripwireArgs make this program a tripwire, and say in a list of processes what
// it is.
var tripwireArgs = []string{"holdfast", "[notices Ctrl-C]"}

const (
	glance   = 250 * time.Millisecond // how long reading key by key may go unseen
	sigKeyed = syscall.SIGIO          // a tripwire tells its parent of an interrupt
)

// tripwire notices the interrupt key while the command is in the foreground. The
// terminal tells only the command's group then, so a process of ours is in that
// group. To keep the foreground for our own group instead is no way: many
// programs show no progress in the background, or wait there forever.
type tripwire struct {
	tty   *terminal
	group int
	pid   int              // 0 while there is no process
	pipe  [2]*os.File      // its standard input, and what keeps that from ending
	keys  chan os.Signal   // interrupts
	ticks <-chan time.Time // call look
	off   bool             // for good
}

// set makes sure that there is a process, unless the keys are the command's own.
func (w *tripwire) set() {
	if w.off || w.pid != 0 {
		return
	}
	if err := w.start(); err != nil {
		w.remove() // the command runs as well without
	}
}

func (w *tripwire) start() error {
	if err := w.prepare(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	attr := &syscall.SysProcAttr{Setpgid: true, Pgid: w.group}
	dieWithParent(attr)
	p, err := os.StartProcess(self, tripwireArgs, &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: []*os.File{w.pipe[0]}, Sys: attr,
	})
	if err != nil {
		return err
	}
	w.pid = p.Pid
	return p.Release()
}

// prepare does what is needed once.
func (w *tripwire) prepare() (err error) {
	if w.keys != nil {
		return nil
	}
	w.keys = make(chan os.Signal, 2) // enough to kill
	signal.Notify(w.keys, sigKeyed)
	w.ticks = time.Tick(glance)
	w.pipe[0], w.pipe[1], err = os.Pipe()
	return err
}

// asTripwire is the process itself, if args say so. It lasts until standard input
// ends, with the run that holds it. The quit key is not what it is for.
func asTripwire(args []string) bool {
	if !slices.Equal(args, tripwireArgs) {
		return false
	}
	parent := os.Getppid()
	keys := make(chan os.Signal, 2)
	signal.Notify(keys, syscall.SIGINT)
	signal.Ignore(syscall.SIGQUIT)
	go func() { // ends with the process
		for range keys {
			if os.Getppid() == parent {
				syscall.Kill(parent, sigKeyed)
			}
		}
	}()
	io.Copy(io.Discard, os.Stdin)
	return true
}

// ended takes the end of any process. A signal meant for the command's group may
// end a tripwire, and one that has only just started dies of an interrupt.
func (w *tripwire) ended(pid int, ws syscall.WaitStatus) {
	if w.pid == 0 || pid != w.pid || ws.Stopped() {
		return
	}
	w.pid = 0
	if ws.Exited() {
		w.remove() // it cannot work
	}
	if ws.Signal() == syscall.SIGINT {
		select {
		case w.keys <- sigKeyed:
		default: // there are enough
		}
	}
	w.set()
}

// look leaves the keys to a command that reads key by key, as an editor does, or
// that controls jobs itself: an interactive shell.
func (w *tripwire) look() {
	if w.off || w.tty.foreground() != w.group {
		return
	}
	if w.tty.raw() || ignores(w.group, syscall.SIGTSTP) && !signal.Ignored(syscall.SIGTSTP) {
		w.remove()
	}
}

// remove is for good.
func (w *tripwire) remove() {
	w.drop()
	w.off, w.ticks = true, nil
}

// drop ends the process before a signal of our own reaches the group.
func (w *tripwire) drop() {
	if w.pid != 0 {
		syscall.Kill(w.pid, syscall.SIGKILL)
	}
	w.pid = 0
}
