package main

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent lets the kernel kill the command when the thread that starts it
// dies, so that a killed run leaves no unlocked work behind.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// adoptOrphans makes orphaned descendants our children instead of init's, so
// that they can be found and reaped. Without it only the group is reached.
func adoptOrphans() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// getTermios reads a terminal's modes.
const getTermios = unix.TCGETS

// ignores reports whether a process ignores the signal.
func ignores(pid int, sig syscall.Signal) bool {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return false
	}
	_, rest, _ := bytes.Cut(status, []byte("\nSigIgn:\t"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	mask, err := strconv.ParseUint(string(line), 16, 64)
	return err == nil && mask&(1<<(sig-1)) != 0
}

// children returns those that this process has already, from a program that
// replaced itself by us. They are not the command's.
func children() map[int]bool {
	self := strconv.Itoa(os.Getpid())
	list, err := os.ReadFile("/proc/self/task/" + self + "/children")
	if err != nil {
		return nil // not in every kernel
	}
	found := map[int]bool{}
	for _, field := range bytes.Fields(list) {
		if pid, err := strconv.Atoi(string(field)); err == nil {
			found[pid] = true
		}
	}
	return found
}

// descendants returns all processes below this one, without those in except and
// what is below them.
func descendants(except map[int]bool) map[int]bool {
	children := map[int][]int{}
	for _, pid := range processes() {
		if parent, ok := parentOf(pid); ok {
			children[parent] = append(children[parent], pid)
		}
	}
	found := map[int]bool{}
	for next := []int{os.Getpid()}; len(next) > 0; next = next[1:] {
		for _, pid := range children[next[0]] {
			if !except[pid] {
				found[pid] = true
				next = append(next, pid)
			}
		}
	}
	return found
}

func processes() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parentOf reads "pid (name) state ppid …", where the name may hold anything.
func parentOf(pid int) (int, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return parent, err == nil
}
