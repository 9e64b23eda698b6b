package docs

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTestNames: each test that a document names, in backquotes, exists. Tests
// are named as go test prints them, with the conformance suite's rules as
// TestConformance/PROMISE/RULE, and the command's scripts as FILE.txt.
func TestTestNames(t *testing.T) {
	tests, rules, scripts := testNames(t), suiteRules(t), files(t, "*.txt")
	for i, s := range scripts {
		scripts[i] = path.Base(s)
	}
	name := regexp.MustCompile("`((?:Test|Fuzz|Example)[A-Za-z0-9_]*(?:/[^`]*)?|[a-z0-9_-]+\\.txt)`")
	for _, doc := range files(t, "*.md") {
		for _, m := range name.FindAllStringSubmatch(read(t, doc), -1) {
			top, rest, _ := strings.Cut(m[1], "/")
			switch {
			case strings.HasSuffix(top, ".txt"):
				if !slices.Contains(scripts, top) {
					t.Errorf("%s: there is no script %s", doc, top)
				}
			case !slices.Contains(tests, top):
				t.Errorf("%s: there is no test %s", doc, top)
			case top == "TestConformance" && !slices.Contains(rules, rest):
				t.Errorf("%s: the suite has no rule %s", doc, rest)
			}
		}
	}
}

// testNames returns the test functions of the module.
func testNames(t *testing.T) []string {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
	var names []string
	for _, name := range files(t, "*_test.go") {
		for _, m := range function.FindAllStringSubmatch(read(t, name), -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// suiteRules returns the rules of the conformance suite as promise/rule, and the
// promises themselves with nothing or * behind.
func suiteRules(t *testing.T) []string {
	t.Helper()
	promise := regexp.MustCompile(`promise\{"([a-z]+)", \[\]rule\{`)
	rule := regexp.MustCompile(`(?m)^\t\{"([a-z-]+)",`)
	rules := []string{""}
	for _, name := range files(t, "*.go") {
		if path.Base(path.Dir(name)) != "drivertest" {
			continue
		}
		source := read(t, name)
		for _, m := range promise.FindAllStringSubmatch(source, -1) {
			rules = append(rules, m[1], m[1]+"/*")
			for _, r := range rule.FindAllStringSubmatch(source, -1) {
				rules = append(rules, m[1]+"/"+r[1])
			}
		}
	}
	if len(rules) < 20 {
		t.Fatalf("only %d rules were found: has the suite changed its form?", len(rules))
	}
	return rules
}

// TestWeaknesses: each weakness that a store may declare has its row in the
// guarantees, with the rules of the suite that it excuses from.
func TestWeaknesses(t *testing.T) {
	doc, suite := read(t, "docs/guarantees.md"), read(t, "driver/drivertest/weak.go")
	constant := regexp.MustCompile(`(?m)^\t([A-Z]\w+) +Weakness = "(.*)"`)
	found := constant.FindAllStringSubmatch(read(t, "driver/profile.go"), -1)
	if len(found) == 0 {
		t.Fatal("no weaknesses were found: has package driver changed its form?")
	}
	for _, m := range found {
		start := "| `" + m[1] + "` | " + m[2] + " |"
		_, rest, ok := strings.Cut(doc, start)
		if !ok {
			t.Errorf("docs/guarantees.md has no row that starts with %s", start)
			continue
		}
		row, _, _ := strings.Cut(rest, "\n")
		excused := regexp.MustCompile(`driver\.` + m[1] + `:\s+(nil|\{[^}]*\})`).FindString(suite)
		want, got := quoted(excused, `"`), quoted(row, "`")
		if !slices.Equal(want, got) {
			t.Errorf("docs/guarantees.md: %s excuses from %v, the suite says %v", m[1], got, want)
		}
	}
}

// quoted returns the rules between quotes in s.
func quoted(s, quote string) []string {
	var found []string
	for _, m := range regexp.MustCompile(quote+`([a-z]+/[a-z*-]+)`+quote).FindAllStringSubmatch(s, -1) {
		found = append(found, m[1])
	}
	return found
}

// TestDependencies: docs/dependencies.md lists what go.mod requires directly, in
// the same versions, and nothing else.
func TestDependencies(t *testing.T) {
	required := map[string]bool{}
	line := regexp.MustCompile(`(?m)^(?:require|\t) *([\w./-]+) (v\S+)$`)
	for _, m := range line.FindAllStringSubmatch(read(t, "go.mod"), -1) {
		required["| "+m[1]+" | "+m[2]+" |"] = true
	}
	row := regexp.MustCompile(`(?m)^\| [\w./-]+\.[\w./-]+ \| v\S+ \|`)
	for _, r := range row.FindAllString(read(t, "docs/dependencies.md"), -1) {
		if !required[r] {
			t.Errorf("docs/dependencies.md: go.mod does not require %s directly", r)
		}
		delete(required, r)
	}
	for r := range required {
		t.Errorf("docs/dependencies.md has no row that starts with %s", r)
	}
}
