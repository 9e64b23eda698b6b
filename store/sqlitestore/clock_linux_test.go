package sqlitestore

import (
	"testing"
	"time"
)

func TestParseOffset(t *testing.T) {
	for text, want := range map[string]int64{
		"monotonic           0         0\nboottime            0         0\n": 0,
		"monotonic      100000       500\nboottime            7         0\n": 100000e9 + 500,
		"boottime            7         0\nmonotonic         -31 500000000\n": -31e9 + 5e8,
		"something           1         2\n":                                  0,
		"":                                                                   0,
	} {
		if got, err := parseOffset(text); err != nil || got != want {
			t.Errorf("%q is %d, %v: want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"monotonic", "monotonic x 0", "monotonic 1"} {
		if got, err := parseOffset(text); err == nil {
			t.Errorf("%q is %d, want an error", text, got)
		}
	}
}

// TestClock: the clock runs as Go's does.
func TestClock(t *testing.T) {
	c, err := newClock()
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	from := c.now()
	began := time.Now()
	<-time.After(20 * time.Millisecond)
	ended := time.Now()
	to := c.now()
	after := time.Now()
	if ran := time.Duration(to - from); ran < ended.Sub(began) || ran > after.Sub(before) {
		t.Errorf("it ran %v, in more than %v and less than %v", ran, ended.Sub(began), after.Sub(before))
	}
}
