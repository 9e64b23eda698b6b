package drivertest_test

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/store/memstore"
)

// whichBroken names the broken store in the environment of a child process.
const whichBroken = "HOLDFAST_TEST_BROKEN_STORE"

// fault is what is wrong with a store, and the rules that show it.
type fault struct {
	rules string
	alter func(s *altered)
}

// broken returns all wrong stores by their fault.
func broken() map[string]fault {
	all := maps.Clone(brokenHolds)
	maps.Copy(all, brokenCalls)
	maps.Copy(all, brokenEnds)
	return all
}

// TestBrokenStores shows that the suite rejects wrong stores: in a process of its
// own for each, the rule that the store breaks must fail and say so.
func TestBrokenStores(t *testing.T) {
	for name, b := range broken() {
		for rule := range strings.FieldsSeq(b.rules) {
			t.Run(name+" "+rule, func(t *testing.T) {
				t.Parallel()
				out, err := suite(t, name, "/^"+strings.Replace(rule, "/", "$/^", 1)+"$")
				if want := " " + rule + ": "; err == nil || !strings.Contains(out, want) {
					t.Errorf("rule %s accepts the store: %v, and printed:\n%s", rule, err, out)
				}
			})
		}
	}
}

// TestSoundStore shows that the broken stores fail for their faults alone, and
// that there is a broken store for every rule.
func TestSoundStore(t *testing.T) {
	out, err := suite(t, "none", "")
	if err != nil {
		t.Errorf("the suite rejects the store that the broken ones are made of: %v\n%s", err, out)
	}
	seen := map[string]bool{}
	for _, b := range broken() {
		for rule := range strings.FieldsSeq(b.rules) {
			seen[rule] = true
		}
	}
	rules := regexp.MustCompile(`--- \w+: TestSuite/(\w+/[\w-]+) `).FindAllStringSubmatch(out, -1)
	if len(rules) == 0 {
		t.Error("the suite printed no rules")
	}
	for _, m := range rules {
		if !seen[m[1]] {
			t.Errorf("no broken store shows that the rule %s can fail", m[1])
		}
	}
}

// suite runs rules of TestSuite in a child process.
func suite(t *testing.T, name, rules string) (string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestSuite$"+rules, "-test.v", "-test.timeout=50s")
	cmd.Env = append(os.Environ(), whichBroken+"="+name)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestSuite is what the child processes run. In the parent it is one more look
// at the sound store.
func TestSuite(t *testing.T) {
	fault := broken()[os.Getenv(whichBroken)]
	drivertest.Run(t, drivertest.Harness{Virtual: true, Place: func(testing.TB) func() driver.Store {
		server, shared := memstore.NewServer(), new(atomic.Int64)
		return func() driver.Store {
			s := &altered{full: server.Store().(full), place: shared}
			if fault.alter != nil {
				fault.alter(s)
			}
			return s
		}
	}})
}
