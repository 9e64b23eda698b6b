// Command mutation shows that the tests of the core can fail: it makes each of
// a list of plausible mistakes in turn, without touching the tree, and runs the
// tests, which must notice. It exits 1 if a mistake survives or no longer fits
// the code.
//
//	go run ./internal/mutation [-run REGEXP] [-v]
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"
)

func main() {
	only := flag.String("run", "", "try only mutants whose name matches this `regexp`")
	verbose := flag.Bool("v", false, "print what the tests said")
	flag.Parse()
	if err := run(*only, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

func run(only string, verbose bool) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-run %q: %w", only, err)
	}
	dir, err := os.MkdirTemp("", "holdfast-mutation-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	var wg sync.WaitGroup
	var mu sync.Mutex // guards failures and the output
	failures := 0
	slots := make(chan struct{}, runtime.NumCPU())
	for i, m := range mutants {
		if !match.MatchString(m.name) {
			continue
		}
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			verdict, err := m.try(filepath.Join(dir, fmt.Sprint(i)))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failures++
				fmt.Printf("FAIL  %s: %v\n", m.name, err)
				return
			}
			fmt.Printf("ok    %s: %s\n", m.name, verdict.first)
			if verbose {
				fmt.Println(verdict.output)
			}
		})
	}
	wg.Wait()
	if failures > 0 {
		return fmt.Errorf("%d mutants failed", failures)
	}
	return nil
}

// verdict is how the tests noticed a mutant.
type verdict struct{ first, output string }

// patience is how long the tests may hang before that counts as noticing.
const patience = 45 * time.Second

// try runs the tests of the core with the mutant in place.
func (m mutant) try(dir string) (verdict, error) {
	overlay, err := m.overlay(dir)
	if err != nil {
		return verdict{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	test := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-count=1", "-short", "-failfast", "-timeout", patience.String(), ".")
	out, err := test.CombinedOutput()
	switch {
	case err == nil:
		return verdict{}, errors.New("survived: no test noticed")
	case strings.Contains(string(out), "[build failed]"):
		return verdict{}, fmt.Errorf("does not compile:\n%s", out)
	}
	return verdict{first: firstFailure(string(out)), output: string(out)}, nil
}

func firstFailure(out string) string {
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "--- FAIL") || strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
			return line
		}
	}
	return "the tests failed"
}

// overlay writes the changed files below dir, and a file that tells the go
// command to read them in place of the originals.
func (m mutant) overlay(dir string) (string, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	changed := map[string]string{}
	for _, e := range m.edits {
		text, ok := changed[e.file]
		if !ok {
			b, err := os.ReadFile(e.file)
			if err != nil {
				return "", fmt.Errorf("run this in the root of the module: %w", err)
			}
			text = string(b)
		}
		if !strings.Contains(text, e.old) {
			return "", fmt.Errorf("%s no longer has %q: bring the mutant up to date", e.file, e.old)
		}
		changed[e.file] = strings.ReplaceAll(text, e.old, e.new)
	}
	replace := map[string]string{}
	for name, text := range changed {
		original, err := filepath.Abs(name)
		if err != nil {
			return "", err
		}
		replace[original] = filepath.Join(dir, name)
		if err := os.WriteFile(replace[original], []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
}
