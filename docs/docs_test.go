// Package docs checks that the documents of this module say what is true of its
// files: code that compiles, tests that exist, links that lead somewhere.
package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// module is the module's files.
var module = os.DirFS("..")

// read returns a file of the module.
func read(t *testing.T, name string) string {
	t.Helper()
	b, err := fs.ReadFile(module, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// files returns the module's files whose names match one of the patterns.
func files(t *testing.T, patterns ...string) []string {
	t.Helper()
	var found []string
	err := fs.WalkDir(module, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if name == ".git" || name == "build" {
				return fs.SkipDir
			}
			return err
		}
		for _, p := range patterns {
			if ok, _ := path.Match(p, path.Base(name)); ok {
				found = append(found, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// blocks returns the fenced blocks of a language in a document.
func blocks(doc, language string) []string {
	var found []string
	fence := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$")
	for _, m := range fence.FindAllStringSubmatch(doc, -1) {
		found = append(found, m[1])
	}
	return found
}

// TestGoBlocks: each Go block of a document is code of a file that is compiled,
// but for its indentation and comments.
func TestGoBlocks(t *testing.T) {
	var code strings.Builder
	for _, name := range files(t, "*_test.go") {
		code.WriteString(bare(read(t, name)))
	}
	n := 0
	for _, name := range files(t, "*.md") {
		for _, block := range blocks(read(t, name), "go") {
			n++
			if !strings.Contains(code.String(), bare(block)) {
				t.Errorf("%s: this block is in no *_test.go file, so that nothing shows that it compiles:\n%s", name, block)
			}
		}
	}
	if n == 0 {
		t.Error("no Go blocks were found")
	}
}

// bare is code without indentation, comments and empty lines.
func bare(code string) string {
	comment := regexp.MustCompile(`(^|\s)// .*$`)
	var b strings.Builder
	for line := range strings.Lines(code) {
		if line = strings.TrimSpace(comment.ReplaceAllString(strings.TrimSpace(line), "")); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// TestFlags: documents call holdfast run with flags that it has.
func TestFlags(t *testing.T) {
	source := read(t, "cmd/holdfast/flags.go")
	call := regexp.MustCompile(`holdfast run ([^\n]*?) -- `)
	flag := regexp.MustCompile(`(?:^| )--([a-z-]+)`)
	n := 0
	for _, name := range append(files(t, "*.md"), "cmd/holdfast/help.go") {
		for _, m := range call.FindAllStringSubmatch(read(t, name), -1) {
			for _, f := range flag.FindAllStringSubmatch(m[1], -1) {
				n++
				if !strings.Contains(source, fmt.Sprintf("%q", f[1])) {
					t.Errorf("%s: holdfast run has no --%s", name, f[1])
				}
			}
		}
	}
	if n == 0 {
		t.Error("no flags were found")
	}
}

// TestTargets: documents call make targets and scripts that exist.
func TestTargets(t *testing.T) {
	makefile := read(t, "Makefile")
	call := regexp.MustCompile("(?m)[`\n]make ([a-z-]+)")
	for _, name := range files(t, "*.md", "run") {
		for _, m := range call.FindAllStringSubmatch(read(t, name), -1) {
			if !strings.Contains(makefile, "\n"+m[1]+": ") {
				t.Errorf("%s: there is no make %s", name, m[1])
			}
		}
	}
}

// TestLinks: links to files of the module lead to files.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	n := 0
	for _, name := range files(t, "*.md") {
		for _, m := range link.FindAllStringSubmatch(read(t, name), -1) {
			n++
			if _, err := fs.Stat(module, path.Join(path.Dir(name), m[1])); err != nil {
				t.Errorf("%s: link to %s: %v", name, m[1], err)
			}
		}
	}
	if n == 0 {
		t.Error("no links were found")
	}
}

// TestMachine: no document has a path of the machine that it was written on.
func TestMachine(t *testing.T) {
	strange := regexp.MustCompile(`/(work|root|tmp|home/[a-z]+)/`)
	for _, name := range files(t, "*.md") {
		if p := strange.FindString(read(t, name)); p != "" {
			t.Errorf("%s mentions %s", name, p)
		}
	}
}
