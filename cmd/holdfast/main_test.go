//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes this binary stand in for the program and for small commands
// that run under it, so that scripts and tests run real processes.
func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){
		"holdfast": program,
		"hold":     tool(hold),
		"beat":     tool(beat),
		"stamp":    tool(stamp),
		"catch":    tool(catch),
		"jam":      tool(jam),
	})
}

// tests are run by a process that ignores no signal, whatever started it: what is
// ignored, as under nohup, the programs under test would inherit.
type tests struct{ *testing.M }

func (t tests) Run() int {
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	return t.M.Run()
}

// program is main, with the signs of a container replaced.
func program() {
	hostRoot = os.DirFS(os.Getenv("TEST_ROOT"))
	main()
}

// TestScripts runs testdata/*.txt, which specify the command.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir+"/home")
			e.Setenv("XDG_STATE_HOME", e.WorkDir+"/state")
			e.Setenv("TEST_ROOT", e.WorkDir+"/root")
			return os.MkdirAll(e.WorkDir+"/root", 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitfile": scriptWaitFile,
			"waitgrep": scriptWaitGrep,
			"sig":      scriptSignal,
			"exit":     scriptExit,
			"lines":    scriptLines,
		},
	})
}
