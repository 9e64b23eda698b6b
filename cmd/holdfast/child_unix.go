//go:build unix

package main

import (
	"errors"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// child is the running command and what it started. Its methods belong to one
// goroutine.
type child struct {
	pid     int
	nested  bool             // in our group, not in one of its own
	changes <-chan os.Signal // SIGCHLD: call reap
	sigs    chan os.Signal   // where our own signals arrive
	tty     *terminal        // nil without one, or nested
	wire    tripwire         // set while the command has the terminal
	before  map[int]bool     // processes that were our children already
	wake    <-chan time.Time // after a stop of our own group
	stop    syscall.Signal   // stops us, unless nobody could wake us
}

// startChild starts the command. The parent-death signal that it gets where the
// system has one is tied to the thread that forks, so this goroutine keeps its
// thread from here on and must live as long as the command.
func startChild(s childSpec, sigs chan os.Signal) (*child, error) {
	runtime.LockOSThread()
	adoptOrphans()
	changes := make(chan os.Signal, 1)
	signal.Notify(changes, syscall.SIGCHLD)
	c := &child{nested: s.nested, changes: changes, sigs: sigs, before: children()}
	attr := &syscall.SysProcAttr{Setpgid: !s.nested}
	dieWithParent(attr)
	if !s.nested {
		c.tty = openTerminal()
		c.tty.handTo(attr)
	}
	p, err := os.StartProcess(s.path, s.argv, &os.ProcAttr{
		Env: s.env, Sys: attr,
		Files: append([]*os.File{os.Stdin, os.Stdout, os.Stderr}, s.inherit...),
	})
	if err != nil {
		c.tty.regain(attr)
		return nil, err
	}
	c.pid = p.Pid
	p.Release() // reap does the waiting, for orphans too
	c.jobControl(attr.Foreground)
	c.wire = tripwire{tty: c.tty, group: c.pid, off: c.tty == nil}
	if attr.Foreground {
		c.wire.set()
	}
	return c, nil
}

// jobControl prepares for stops. The terminal stops a command in its foreground
// itself; else the stop comes to us, and we pass it on. A nested run is stopped
// together with its command.
func (c *child) jobControl(foreground bool) {
	if c.nested {
		return
	}
	signal.Ignore(syscall.SIGTTOU) // or handing the terminal back would stop us
	c.stop = syscall.SIGTSTP
	if !foreground && !signal.Ignored(syscall.SIGTSTP) {
		signal.Notify(c.sigs, syscall.SIGTSTP)
		c.stop = syscall.SIGTTIN // the runtime swallows a signal that was ever caught
	}
}

// reap collects every child that ended, orphans that fell to us included, and
// returns what became of the command.
func (c *child) reap() change {
	var ch change
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG|syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil || pid == 0:
			return ch
		case pid == c.pid:
			ch = changeOf(ws)
		default:
			c.wire.ended(pid, ws)
		}
	}
}

func changeOf(ws syscall.WaitStatus) change {
	switch {
	case ws.Exited():
		return change{ended: true, code: ws.ExitStatus()}
	case ws.Signaled():
		return change{ended: true, code: exitSignal + int(ws.Signal())}
	case ws.Stopped():
		return change{stopped: ws.StopSignal()}
	}
	return change{}
}

// pass hands a signal on. The group of a nested command is also ours: what a
// terminal sends reached it already, and the rest goes to the command alone,
// which an outer run's signal to the whole group may thus reach twice. That is
// the lesser evil: a signal sent to us alone must not be swallowed.
func (c *child) pass(sig os.Signal) {
	n, _ := sig.(syscall.Signal)
	switch {
	case !c.nested:
		c.passToGroup(n)
	case n != syscall.SIGINT && n != syscall.SIGQUIT && n != syscall.SIGWINCH:
		syscall.Kill(c.pid, n)
	}
}

// passToGroup keeps the tripwire from counting what we counted.
func (c *child) passToGroup(sig syscall.Signal) {
	set := c.wire.pid != 0
	if sig == syscall.SIGINT {
		c.wire.drop()
	}
	syscall.Kill(-c.pid, sig)
	if set {
		c.wire.set()
	}
}

// terminate asks the command and all that it started to end. A stopped process
// can obey only once it goes on.
func (c *child) terminate() {
	c.signalAll(syscall.SIGTERM)
	c.signalAll(syscall.SIGCONT)
}

func (c *child) kill() { c.signalAll(syscall.SIGKILL) }

// signalAll reaches the group at once, and one by one what left it or what
// shares it with an outer run.
func (c *child) signalAll(sig syscall.Signal) {
	c.wire.remove()
	if !c.nested {
		syscall.Kill(-c.pid, sig)
	}
	for pid := range c.rest() {
		syscall.Kill(pid, sig)
	}
}

// rest is what descends from the command outside a group of its own.
func (c *child) rest() map[int]bool {
	pids := descendants(c.before)
	if pids == nil && c.nested {
		pids = map[int]bool{c.pid: true}
	}
	for pid := range pids {
		if group, err := syscall.Getpgid(pid); !c.nested && err == nil && group == c.pid {
			delete(pids, pid)
		}
	}
	return pids
}

// gone reports whether nothing of the command is left, not even a zombie.
func (c *child) gone() bool {
	if !c.nested && !errors.Is(syscall.Kill(-c.pid, 0), syscall.ESRCH) {
		return false
	}
	for pid := range c.rest() {
		if !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return false
		}
	}
	return true
}

// stopped follows the command into a stop, as a shell's job does: where a
// terminal is there, our whole group stops with it and the shell takes over.
// The command that only wanted the terminal, and may have it, gets it. A stop
// sent by hand is left alone: the lock is kept and renewed.
func (c *child) stopped(sig syscall.Signal) {
	if c.tty == nil {
		return
	}
	switch sig {
	case syscall.SIGTTIN, syscall.SIGTTOU:
		if c.tty.foreground() == syscall.Getpgrp() {
			c.resume()
			return
		}
	case syscall.SIGTSTP:
		// Where nobody could wake us the kernel does not stop us either.
		c.wake = time.After(100 * time.Millisecond)
	default:
		return
	}
	syscall.Kill(0, c.stop)
}

// resume lets the command go on, in the foreground if we are there.
func (c *child) resume() {
	c.wake = nil
	if c.tty == nil {
		return
	}
	if c.tty.foreground() == syscall.Getpgrp() {
		c.tty.give(c.pid)
		c.wire.set()
	}
	syscall.Kill(-c.pid, syscall.SIGCONT)
}

// keys delivers interrupts that the terminal sent to the command.
func (c *child) keys() <-chan os.Signal { return c.wire.keys }

// ownKeys reports whether the interrupt key is the command's own affair.
func (c *child) ownKeys() bool {
	c.wire.look()
	return c.wire.off
}

// glances says when to ask for ownKeys.
func (c *child) glances() <-chan time.Time { return c.wire.ticks }

// close takes the terminal back when the command has ended, and restores its
// modes if a signal gave the command no chance to.
func (c *child) close(restore bool) {
	signal.Reset(syscall.SIGCHLD)
	c.tty.takeBack(c.pid, restore)
}

// replaceSelf runs a command in place of this process.
func replaceSelf(s childSpec) error {
	return syscall.Exec(s.path, s.argv, s.env)
}
