package cases_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	caseRow  = regexp.MustCompile(`(?m)^\| (B\d{3}) \|.*$`)
	caseTest = regexp.MustCompile(`(?m)^func (Test(B\d{3})\w*)\(`)
)

// docs/cases.md has one row for each case, and in it every test of that number.
func TestCasesAreListed(t *testing.T) {
	doc, err := os.ReadFile("../../docs/cases.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, m := range caseRow.FindAllStringSubmatch(string(doc), -1) {
		if rows[m[1]] != "" {
			t.Errorf("%s has two rows", m[1])
		}
		rows[m[1]] = m[0]
	}
	for n := 1; n <= 185; n += 2 { // as the cases are numbered
		if rows[fmt.Sprintf("B%03d", n)] == "" {
			t.Errorf("B%03d has no row", n)
		}
	}
	tested := map[string]bool{}
	for _, m := range caseTests(t) {
		tested[m[2]] = true
		if !strings.Contains(rows[m[2]], "`"+m[1]+"`") {
			t.Errorf("the row of %s does not name %s", m[2], m[1])
		}
	}
	replayed, _, _ := strings.Cut(string(doc), "## Not yet")
	for number, row := range rows {
		if strings.Contains(replayed, row) != tested[number] {
			t.Errorf("%s has a test: %v, which is not what its table says", number, tested[number])
		}
	}
}

// caseTests returns the name and the number of each test of a case in the
// module.
func caseTests(t *testing.T) (found [][]string) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		found = append(found, caseTest.FindAllStringSubmatch(string(source), -1)...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
