//go:build unix

package cases_test

import (
	"flag"
	"os"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(puppetDir); dir != "" {
		runPuppet(dir)
		return
	}
	flag.Parse()
	// Cases in real time mostly wait, so more of them than processors may run.
	_ = flag.Set("test.parallel", "16")
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		removeProgram()
		os.Exit(code)
	}))
}

// scaled is n, times HOLDFAST_ROUNDS for a soak, and never more than the case
// asks for.
func scaled(tb testing.TB, n, most int) int {
	tb.Helper()
	text := os.Getenv("HOLDFAST_ROUNDS")
	if text == "" {
		return n
	}
	f, err := strconv.Atoi(text)
	if err != nil || f < 1 {
		tb.Fatalf("HOLDFAST_ROUNDS=%q: want a positive number", text)
	}
	return min(n*f, most)
}
