package main

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

func newTestUI() (*ui, *strings.Builder) {
	var b strings.Builder
	return &ui{w: &b, width: func() int { return 20 }}, &b
}

// Text of others, such as a label, must not reach the terminal as commands.
func TestUIKeepsControlCharactersOut(t *testing.T) {
	u, out := newTestUI()
	u.warn("label %s", "a\x1b]0;owned\x07\nb\u009bc")
	if got, want := out.String(), "holdfast: label a]0;owned bc\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUIHidesSecrets(t *testing.T) {
	for _, json := range []bool{false, true} {
		u, out := newTestUI()
		u.json = json
		u.hide(secrets("redis://ann:s3cr%20t@h/0?api_token=hush"))
		u.fail(errors.New("dial redis://ann:s3cr%20t@h/0?api_token=hush: s3cr t"))
		for _, bad := range []string{"s3cr", "hush"} {
			if strings.Contains(out.String(), bad) {
				t.Errorf("json %v: %q shows %q", json, out.String(), bad)
			}
		}
		if !strings.Contains(out.String(), "ann") {
			t.Errorf("json %v: %q hides more than secrets", json, out.String())
		}
	}
}

// The waiting line is cut to the terminal, and gone before anything else shows.
func TestUIDrawsInPlace(t *testing.T) {
	u, out := newTestUI()
	u.draw("waiting for a long time")
	u.draw("short")
	u.warn("w")
	u.clear()
	want := "\rholdfast: waiting …\x1b[K" + "\rholdfast: short\x1b[K" + "\r\x1b[K" + "holdfast: w\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestInContainer(t *testing.T) {
	t.Setenv("container", "")
	file := &fstest.MapFile{}
	for name, c := range map[string]struct {
		root fstest.MapFS
		want bool
	}{
		"bare":       {fstest.MapFS{"proc/self/cgroup": {Data: []byte("0::/user.slice/session.scope\n")}}, false},
		"no proc":    {fstest.MapFS{}, false},
		"docker":     {fstest.MapFS{".dockerenv": file}, true},
		"podman":     {fstest.MapFS{"run/.containerenv": file}, true},
		"kubernetes": {fstest.MapFS{"proc/self/cgroup": {Data: []byte("1:cpu:/kubepods/pod1/c1\n")}}, true},
	} {
		if got := inContainer(c.root); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	t.Setenv("container", "podman")
	if !inContainer(fstest.MapFS{}) {
		t.Error("the variable container is not looked at")
	}
}
