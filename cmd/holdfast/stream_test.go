//go:build linux

package main

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"
)

// The command has our streams themselves: whatever goes in comes out.
func TestStreamsPassThrough(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	data := make([]byte, 8<<20)
	if _, err := rand.Read(data); err != nil {
		t.Fatal(err)
	}
	r := p.holdfast("job", "--", "cat")
	r.Stdin = bytes.NewReader(data)
	r.start().wantEnd(0)
	if r.out.String() != string(data) {
		t.Errorf("%d bytes came out of %d, or others", len(r.out.String()), len(data))
	}
}

// Our own messages never reach standard output.
func TestStandardErrorIsShared(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.holdfast("--json", "job", "--", "sh", "-c", "echo out; echo err >&2").start()
	r.wantEnd(0)
	if r.out.String() != "out\n" {
		t.Errorf("standard output is %q", r.out.String())
	}
	if !strings.Contains(r.err.String(), "err\n") {
		t.Errorf("standard error is %q", r.err.String())
	}
}

// A reader of our messages that went away ends neither us nor the command.
func TestClosedStandardError(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.command("bash", "-c", `holdfast run --json job -- sh -c 'hold up stop; exit 4' 2> >(exec true); exit $?`).start()
	p.awaitFile("up")
	p.write("stop", "now")
	r.wantEnd(4)
}
