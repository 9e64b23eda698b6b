package cases_test

import (
	"os"
	"syscall"
	"testing"
)

// ownPIDs starts a process that is number 1 of a pid namespace of its own.
func (w *world) ownPIDs() *process {
	w.Helper()
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if os.Geteuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	}
	p, err := w.processWith(attr)
	if err != nil {
		w.Skipf("this system has no pid namespaces for this user: %v", err)
	}
	if pid := p.ask("pid -"); pid != "1" {
		w.Fatalf("the process has pid %s in its namespace, want 1", pid)
	}
	return p
}

// No process id decides who lives: it may be the same in two namespaces, or
// invisible from here.
func TestB015LivenessWithoutProcessIDs(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(w *world) (a, b *process){
		"same pid":      func(w *world) (a, b *process) { return w.ownPIDs(), w.ownPIDs() },
		"invisible pid": func(w *world) (a, b *process) { return w.process(), w.ownPIDs() },
	} {
		inFolder(t, name, func(w *world) {
			a, b := start(w)
			a.must("lock k %v", w.s(10))
			if got := b.ask("try k %v", w.s(10)); got != "held" {
				w.Errorf("b was told %q while a lives", got)
			}
			a.kill()
			b.send("lock k %v", w.s(10))
			w.soon(w.s(10), "b gets in after the death of a", func() bool {
				h := w.holding("k")
				return h != nil && h.Client.PID == 1
			})
			if got := b.answer(); got != "ok" {
				w.Errorf("b was told %q after the death of a", got)
			}
		})
	}
}
