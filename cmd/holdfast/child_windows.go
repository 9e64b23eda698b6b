package main

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// child is the running command and what it started: a job object, which ends
// with this process and takes everything in it along.
type child struct {
	pid     int
	changes chan os.Signal // closed when the command has ended
	code    int            // set before
	job     windows.Handle
	wake    <-chan time.Time // never
}

// startChild starts the command. What it starts in the moment before it is put
// into the job escapes.
func startChild(s childSpec, _ chan os.Signal) (*child, error) {
	job, err := newJobObject()
	if err != nil {
		return nil, err
	}
	p, err := os.StartProcess(s.path, s.argv, &os.ProcAttr{
		Env: s.env, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys: &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP},
	})
	if err != nil {
		return nil, err
	}
	c := &child{pid: p.Pid, changes: make(chan os.Signal), job: job}
	if err := c.enlist(); err != nil {
		p.Kill()
		return nil, err
	}
	go func() { // ends with the command
		defer close(c.changes)
		c.code = 1
		if state, err := p.Wait(); err == nil {
			c.code = state.ExitCode()
		}
	}()
	return c, nil
}

func newJobObject() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return job, err
}

func (c *child) enlist() error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(c.pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	return windows.AssignProcessToJobObject(c.job, h)
}

func (c *child) reap() change { return change{ended: true, code: c.code} }

// pass turns every signal into CTRL_BREAK, the only one that reaches a group.
func (c *child) pass(os.Signal) {
	windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(c.pid))
}

func (c *child) terminate() { c.pass(os.Interrupt) }

func (c *child) kill() { windows.TerminateJobObject(c.job, 1) }

// gone reports whether the command has ended; the rest of its job ends with us.
func (c *child) gone() bool {
	select {
	case <-c.changes:
		return true
	default:
		return false
	}
}

func (c *child) stopped(syscall.Signal) {}

func (c *child) resume() {}

func (c *child) keys() <-chan os.Signal { return nil }

func (c *child) ownKeys() bool { return false }

func (c *child) glances() <-chan time.Time { return nil }

// asTripwire is never true: the console tells us of an interrupt, not the command.
func asTripwire([]string) bool { return false }

// close leaves the job open where something of it may go on after the command.
func (c *child) close(bool) {}

// replaceSelf runs a command in place of this process.
func replaceSelf(s childSpec) error {
	c, err := startChild(s, nil)
	if err != nil {
		return err
	}
	<-c.changes
	os.Exit(c.code)
	return nil
}
