package drivertest

import (
	"path"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// ids are the names of all rules.
func ids() []string {
	var all []string
	for _, p := range promises {
		for _, r := range p.rules {
			all = append(all, path.Join(p.name, r.name))
		}
	}
	return all
}

func TestExcusesNameRules(t *testing.T) {
	for w, patterns := range excused {
		for _, pattern := range patterns {
			found := false
			for _, id := range ids() {
				ok, err := path.Match(pattern, id)
				found = found || ok
				if err != nil {
					t.Fatalf("%q: %v", pattern, err)
				}
			}
			if !found {
				t.Errorf("weakness %q excuses %q, which is no rule", w, pattern)
			}
		}
	}
}

func TestRulesHaveOneName(t *testing.T) {
	seen := map[string]bool{}
	for _, id := range ids() {
		if seen[id] {
			t.Errorf("two rules are named %s", id)
		}
		seen[id] = true
	}
}

func TestExcuse(t *testing.T) {
	for _, c := range []struct {
		id   string
		weak []driver.Weakness
		want driver.Weakness
	}{
		{"breaking/now", nil, ""},
		{"breaking/now", []driver.Weakness{driver.LosesOnRestart, driver.NoBreak}, driver.NoBreak},
		{"retries/too-late", []driver.Weakness{driver.LateDuplicates}, driver.LateDuplicates},
		{"retries/plain", []driver.Weakness{driver.LateDuplicates, driver.NoBreak}, ""},
	} {
		e := &env{id: c.id, profile: driver.Profile{Weak: c.weak}}
		if got := e.excuse(); got != c.want {
			t.Errorf("%s with %q is excused by %q, want %q", c.id, c.weak, got, c.want)
		}
	}
}
