package docs

import (
	"path"
	"strings"
	"testing"
)

// TestMap: ARCHITECTURE.md names each file of the core and each package.
func TestMap(t *testing.T) {
	doc := read(t, "ARCHITECTURE.md")
	seen := map[string]bool{}
	for _, name := range files(t, "*.go") {
		dir := path.Dir(name)
		switch {
		case dir == "." && !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, "_"):
			if name != "doc.go" && !strings.Contains(doc, "`"+name+"`") {
				t.Errorf("ARCHITECTURE.md does not name %s", name)
			}
		case dir != "." && !seen[dir]:
			seen[dir] = true
			if top, _, _ := strings.Cut(dir, "/"); top != "scripts" && !strings.Contains(doc, "`"+dir+"`") {
				t.Errorf("ARCHITECTURE.md does not name the folder %s", dir)
			}
		}
	}
}
