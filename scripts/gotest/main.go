// Gotest runs go test so that no test is skipped unnoticed: a test that skips
// fails the run, unless its reason matches -may-skip.
//
//	go run ./scripts/gotest [-may-skip REGEXP] -- [ARGUMENT of go test]...
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

func main() {
	pattern := flag.String("may-skip", "^$", "reasons for which a test may skip, as a `regexp`")
	flag.Parse()
	if err := run(*pattern, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(1)
	}
}

func run(pattern string, args []string) error {
	maySkip, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	r := &report{w: os.Stdout, maySkip: maySkip, said: map[string][]string{}}
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadBytes('\n')
		r.read(line)
		if err != nil { // the end; what went wrong is go test's to say
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("go test: %w", err)
	}
	if r.skipped > 0 {
		return fmt.Errorf("%d tests were skipped: give them what they miss", r.skipped)
	}
	return nil
}

// event is a line that go test -json prints. See go doc test2json.
type event struct {
	Action, Package, ImportPath, Test, Output string
}

// report prints results as they come: each package, what failing tests said, and
// each skipped test.
type report struct {
	w       io.Writer
	maySkip *regexp.Regexp
	said    map[string][]string // output lines by package and test
	skipped int                 // without leave
}

func (r *report) read(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		r.w.Write(line) // no event, so it is for people
		return
	}
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		r.said[key] = append(r.said[key], e.Output)
	case "build-output":
		fmt.Fprint(r.w, e.Output)
	case "fail":
		fmt.Fprint(r.w, strings.Join(r.said[key], ""))
		delete(r.said, key)
	case "skip":
		r.skip(e, reason(r.said[key]))
		delete(r.said, key)
	case "pass":
		if e.Test == "" {
			r.passed(r.said[key])
		}
		delete(r.said, key)
	}
}

// passed prints the line that sums up a package.
func (r *report) passed(said []string) {
	for _, line := range said {
		if strings.HasPrefix(line, "ok ") {
			fmt.Fprint(r.w, line)
		}
	}
}

// skip takes note of a skipped test. A package without tests is none.
func (r *report) skip(e event, why string) {
	if e.Test == "" {
		return
	}
	verdict := "skipped"
	if !r.maySkip.MatchString(why) {
		verdict = "SKIPPED"
		r.skipped++
	}
	fmt.Fprintf(r.w, "%s %s %s: %s\n", verdict, e.Package, e.Test, why)
}

// reason is what a skipped test said last, without its place in the source.
func reason(said []string) string {
	place := regexp.MustCompile(`^\s+\S+\.go:\d+: `)
	for i := len(said) - 1; i >= 0; i-- {
		if place.MatchString(said[i]) {
			return strings.TrimSpace(place.ReplaceAllString(said[i], ""))
		}
	}
	return "no reason given"
}
