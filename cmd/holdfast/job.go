package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast"
)

const (
	pollGone = 10 * time.Millisecond // the last process of a group sends nobody a signal
	giveUp   = 10 * time.Second      // for processes that even KILL does not end
)

// job is a command that runs under a lease. One goroutine, the one that started
// the child, follows it.
type job struct {
	ui       *ui
	lease    *holdfast.Lease
	child    *child
	sigs     <-chan os.Signal
	grace    time.Duration
	warnOnly bool // --on-lost warn
	nested   bool // a terminal's interrupt reaches the command and us alike
	ints     int
	survives bool // a process of the command did not die
}

// follow returns the command's code when it has ended by itself. It returns cut
// when the command was ended because the lease was.
func (j *job) follow() (code int, cut bool) {
	lost := j.lease.Context().Done()
	for {
		select {
		case <-lost:
			lost = nil
			if j.lose() {
				return exitLost, true
			}
		case <-j.child.changes:
			ch := j.child.reap()
			if ch.ended {
				return ch.code, false
			}
			j.child.stopped(ch.stopped)
		case s := <-j.sigs:
			j.take(s)
		case <-j.child.wake:
			j.goOn()
		case <-j.child.glances():
			j.child.ownKeys()
		case <-j.child.keys():
			if !j.child.ownKeys() && !j.interrupt() {
				j.tell(os.Interrupt)
			}
		}
	}
}

// take passes a signal on. What a terminal sends to a command in its foreground
// does not come here.
func (j *job) take(s os.Signal) {
	switch {
	case s == sigCont:
		j.goOn()
	case s == os.Interrupt && !j.nested && j.interrupt():
	default:
		j.tell(s)
		j.child.pass(s)
	}
}

func (j *job) tell(s os.Signal) {
	j.ui.tell(event{Event: "signal", Name: j.lease.Name(), Signal: signalName(s)})
}

// interrupt counts, and reports whether it killed the command: a second one means
// that asking did not help.
func (j *job) interrupt() bool {
	j.ints++
	if j.ints < 2 {
		return false
	}
	j.ui.warn("second interrupt: killing the command")
	j.child.kill()
	return true
}

// goOn continues after a stop, unless the lease ended meanwhile: then the
// command must not take another step.
func (j *job) goOn() {
	if j.warnOnly || j.lease.Check() == nil {
		j.child.resume()
	}
}

// lose acts on the end of the lease and reports whether the command was ended.
func (j *job) lose() bool {
	cause := context.Cause(j.lease.Context())
	if j.warnOnly && !errors.Is(cause, holdfast.ErrMaxHold) {
		j.report(cause, "the command goes on without it, as --on-lost warn says")
		return false
	}
	j.report(cause, "ending the command")
	if err := j.end(); err != nil {
		j.survives = true
		j.ui.fail(&exitError{code: exitLost, err: err})
	}
	return true
}

func (j *job) report(cause error, then string) {
	text := fmt.Sprintf("lock %q was lost and may soon be another's: %s", j.lease.Name(), then)
	switch {
	case errors.Is(cause, holdfast.ErrMaxHold):
		text = fmt.Sprintf("lock %q reached --max-hold: %s, which counts as a lost lock (exit code %d)", j.lease.Name(), then, exitLost)
	case errors.Is(cause, holdfast.ErrRevoked):
		text = fmt.Sprintf("lock %q was taken away by an operator: %s", j.lease.Name(), then)
	}
	if j.ui.json {
		j.ui.tell(event{Event: "lost", Name: j.lease.Name(), Token: j.lease.Token(), Message: text})
		return
	}
	j.ui.say("lost", false, "%s", text)
}

// end asks everything to end, kills what is left, and returns when nothing is
// left: before the store may grant the lock to another.
func (j *job) end() error {
	left := time.Until(j.killAt())
	if left > 0 { // else a command that was stopped would go on for a moment
		j.tell(syscall.SIGTERM)
		j.child.terminate()
	}
	kill := time.After(left)
	poll := time.NewTicker(pollGone)
	defer poll.Stop()
	var killed time.Time
	for !j.child.gone() {
		select {
		case <-j.child.changes:
			if ch := j.child.reap(); ch.ended {
				j.ui.tell(event{Event: "exited", Name: j.lease.Name(), Code: &ch.code})
			}
		case <-kill:
			j.tell(syscall.SIGKILL)
			killed = time.Now()
			j.child.kill()
		case <-poll.C:
			if !killed.IsZero() {
				j.child.kill() // what was forked meanwhile
			}
		case s := <-j.sigs:
			if s == os.Interrupt {
				kill = time.After(0)
			}
		}
		if !killed.IsZero() && time.Since(killed) > giveUp {
			return fmt.Errorf("a process of the command does not die and may go on without the lock, which is left to its TTL: look at ps")
		}
	}
	return nil
}

// killAt counts from the deadline, from which the store waits one grace, or from
// now where the loss was noticed earlier. What is kept in reserve is for a busy
// machine, which wakes us late.
func (j *job) killAt() time.Time {
	at := j.lease.Deadline()
	if now := time.Now(); now.Before(at) {
		at = now
	}
	reserve := max(j.grace/4, min(j.grace/2, 100*time.Millisecond))
	return at.Add(j.grace - reserve)
}
