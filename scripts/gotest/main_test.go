package main

import (
	"regexp"
	"strings"
	"testing"
)

func TestSkips(t *testing.T) {
	for _, c := range []struct {
		reason string
		want   int
	}{
		{"only root can do this", 0},
		{"no tool", 1},
	} {
		var out strings.Builder
		r := &report{w: &out, maySkip: regexp.MustCompile("^only root"), said: map[string][]string{}}
		r.read([]byte(`{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:1: ` + c.reason + `\n"}`))
		r.read([]byte(`{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}`))
		r.read([]byte(`{"Action":"skip","Package":"p","Test":"TestA"}`))
		if r.skipped != c.want || !strings.Contains(out.String(), "p TestA: "+c.reason) {
			t.Errorf("%q: %d skipped without leave, want %d; it says %q", c.reason, r.skipped, c.want, out.String())
		}
	}
}

func TestFailure(t *testing.T) {
	var out strings.Builder
	r := &report{w: &out, maySkip: regexp.MustCompile("^$"), said: map[string][]string{}}
	r.read([]byte(`{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:1: broken\n"}`))
	r.read([]byte(`{"Action":"output","Package":"p","Test":"TestB","Output":"    a_test.go:2: fine\n"}`))
	r.read([]byte(`{"Action":"pass","Package":"p","Test":"TestB"}`))
	r.read([]byte(`{"Action":"fail","Package":"p","Test":"TestA"}`))
	if got := out.String(); !strings.Contains(got, "broken") || strings.Contains(got, "fine") {
		t.Errorf("it says %q", got)
	}
}
