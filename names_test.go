package holdfast_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

// Names follow one rule everywhere, and each refusal says why and what to do.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		name string
		why  string // part of the error; empty: the name is good
	}{
		{"a", ""},
		{"invoice:42", ""},
		{" spaces are fine ", ""},
		{"../etc/passwd", ""},
		{"'\"\\%s;--", ""},
		{"Ünïcödé/鎖/🔒", ""},
		{strings.Repeat("x", 1024), ""},
		{strings.Repeat("鎖", 341), ""}, // 1,023 bytes
		{"{tag}", ""},
		{"order:{42}:pay", ""},
		{"{a}b}", ""},
		{"{a}{", ""},
		{"{{a}", ""},
		{"{a}{}", ""},

		{"", "empty"},
		{strings.Repeat("x", 1025), "1025 bytes"},
		{strings.Repeat("鎖", 342), "1026 bytes"},
		{"a\xffb", "not UTF-8"},
		{"\xc3", "not UTF-8"},
		{"a\x00b", "control character U+0000 at byte 1"},
		{"a\nb", "control character U+000A"},
		{"tab\t", "control character U+0009 at byte 3"},
		{"\x7f", "control character U+007F"},
		{"a\u0085", "control character U+0085"},
		{"{", "without a later"},
		{"}{", "without a later"},
		{"a{b", "without a later"},
		{"{}", "empty braces"},
		{"{}a}", "empty braces"},
		{"}", "without a \"{\""},
		{"a}b", "without a \"{\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				a := w.open(nil)
				l, err := a.Mutex(c.name, nil).TryLock(w.Context())
				if c.why == "" {
					if err != nil {
						t.Fatal(err)
					}
					if l.Name() != c.name {
						t.Errorf("it is called %q", l.Name())
					}
					w.unlock(l)
					return
				}
				rule := driver.CheckName(c.name)
				_, lockErr := a.Mutex(c.name, nil).Lock(w.Context())
				_, holderErr := a.Holder(w.Context(), c.name)
				for _, err := range []error{err, lockErr, holderErr, a.Do(w.Context(), c.name, nothing)} {
					if !errors.Is(err, holdfast.ErrInvalid) || !strings.Contains(err.Error(), c.why) {
						t.Errorf("%v, want %q", err, c.why)
					}
					if rule == nil || !strings.Contains(err.Error(), rule.Error()) {
						t.Errorf("%v, want the words of the rule: %v", err, rule)
					}
				}
				if calls := a.net.Calls(); len(calls) > 0 {
					t.Errorf("sent %v", calls)
				}
			})
		})
	}
}
