package holdfast_test

import (
	"go/build"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/holdfast-go/holdfast"

// The library and the contract of its stores need the standard library alone.
func TestImports(t *testing.T) {
	allowed := map[string][]string{
		"":       {module + "/driver"},
		"driver": nil,
	}
	for dir, ours := range allowed {
		pkg, err := build.ImportDir(path.Join(".", dir), 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(pkg.Imports) == 0 {
			t.Errorf("%q imports nothing: this test shows nothing", dir)
		}
		for _, imported := range append(pkg.Imports, otherSystems(t, dir)...) {
			if !standard(imported) && !slices.Contains(ours, imported) {
				t.Errorf("%s imports %s", path.Join(module, dir), imported)
			}
		}
	}
}

// otherSystems are the imports of files that are not built here.
func otherSystems(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	for _, system := range []string{"linux", "darwin", "windows", "freebsd"} {
		ctx := build.Default
		ctx.GOOS = system
		pkg, err := ctx.ImportDir(path.Join(".", dir), 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pkg.Imports...)
	}
	return all
}

// standard reports whether a package is of the standard library: the others
// start with a domain.
func standard(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return !strings.Contains(first, ".")
}
