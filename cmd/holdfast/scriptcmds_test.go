//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptWaitFile waits until the files exist: waitfile FILE...
func scriptWaitFile(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		path := ts.MkAbs(name)
		if !eventually(func() bool { _, err := os.Stat(path); return (err == nil) != neg }) {
			ts.Fatalf("%s: still %s", name, map[bool]string{false: "missing", true: "there"}[neg])
		}
	}
}

// scriptWaitGrep waits until a line of a file matches: waitgrep PATTERN FILE
func scriptWaitGrep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: waitgrep PATTERN FILE")
	}
	pattern, path := regexp.MustCompile("(?m)"+args[0]), ts.MkAbs(args[1])
	if !eventually(func() bool { b, _ := os.ReadFile(path); return pattern.Match(b) }) {
		b, _ := os.ReadFile(path)
		ts.Fatalf("%s does not match %q:\n%s", args[1], args[0], b)
	}
}

// scriptSignal signals the commands in the background: sig TERM
func scriptSignal(ts *testscript.TestScript, neg bool, args []string) {
	sigs := map[string]os.Signal{
		"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "USR1": syscall.SIGUSR1,
	}
	if neg || len(args) != 1 || sigs[args[0]] == nil {
		ts.Fatalf("usage: sig INT|TERM|HUP|USR1")
	}
	for _, c := range ts.BackgroundCmds() {
		ts.Check(c.Process.Signal(sigs[args[0]]))
	}
}

// scriptExit runs a command and wants an exit code: exit CODE COMMAND...
func scriptExit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit CODE COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var ended *exec.ExitError
	switch err := ts.Exec(args[1], args[2:]...); {
	case errors.As(err, &ended):
		got = ended.ExitCode()
	default:
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%s: exit code %d, want %d\nstderr:\n%s", strings.Join(args[1:], " "), got, want, ts.ReadFile("stderr"))
	}
}

// scriptLines counts the lines of the last command's output: lines stderr 1
func scriptLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines FILE N")
	}
	text := ts.ReadFile(args[0])
	if got := strings.Count(text, "\n"); strconv.Itoa(got) != args[1] {
		ts.Fatalf("%s has %d lines, want %s:\n%s", args[0], got, args[1], text)
	}
}
