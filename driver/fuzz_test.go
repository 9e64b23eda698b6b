package driver_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/driver"
)

// FuzzCheckName: a legal name is text without control characters that a Redis
// Cluster puts where we think it does, and a refusal is one printable line.
func FuzzCheckName(f *testing.F) {
	for _, name := range []string{"", "a", "a{b}c", "{}", "}{", "a{b", "ä\xff", "a\n", "\u0085", strings.Repeat("x", 1025)} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if err := driver.CheckName(name); err != nil {
			if says := err.Error(); strings.ContainsFunc(says, unicode.IsControl) || len(says) > 512 {
				t.Errorf("%q is refused by %q", name, says)
			}
			return
		}
		switch {
		case name == "" || len(name) > driver.MaxNameBytes:
			t.Errorf("a name of %d bytes is accepted", len(name))
		case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
			t.Errorf("%q is accepted", name)
		case strings.ContainsAny(name, "{}") && tag(name) == "":
			t.Errorf("%q is accepted, and has no hash tag", name)
		}
	})
}

// tag is what a Redis Cluster hashes of a name with braces: what stands between
// the first opening one and the first closing one after it. Empty: the whole.
func tag(name string) string {
	_, rest, _ := strings.Cut(name, "{")
	tag, _, ok := strings.Cut(rest, "}")
	if !ok {
		return ""
	}
	return tag
}
