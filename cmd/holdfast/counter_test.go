//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	counters = 8
	each     = 200
)

// addOne reads the file, adds one, and writes it, with time in between to be
// overtaken.
const addOne = `n=$(cat counter); echo $((n+1)) >counter`

// rounds scales counts: HOLDFAST_ROUNDS=10 makes a soak.
func rounds(t testing.TB) int {
	text := os.Getenv("HOLDFAST_ROUNDS")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("HOLDFAST_ROUNDS=%q: want a positive number", text)
	}
	return n
}

// Eight processes run the program as people get it, each 200 times, around a
// command that updates a file. No update is lost.
func TestCounterUnderTheLock(t *testing.T) {
	p := newPlace(t)
	program := p.path("holdfast")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	n := each * rounds(t)
	start := time.Now()
	got := p.count(n, program+" run --quiet counter -- sh -c '"+addOne+"'")
	t.Logf("%d runs, %v each", counters*n, time.Since(start)/time.Duration(counters*n))
	if got != counters*n {
		t.Errorf("the counter is %d, want %d", got, counters*n)
	}
}

// Without the lock updates are lost, so that the test above can fail.
func TestCounterWithoutTheLock(t *testing.T) {
	p := newPlace(t)
	if got := p.count(each, "sh -c '"+addOne+"'"); got >= counters*each {
		t.Errorf("the counter is %d: no update was lost without a lock", got)
	}
}

// count runs command n times in each of eight loops and returns the counter.
func (p *place) count(n int, command string) int {
	p.t.Helper()
	p.write("counter", "0\n")
	loop := fmt.Sprintf("i=0; while [ $i -lt %d ]; do %s || exit; i=$((i+1)); done", n, command)
	var all sync.WaitGroup
	for range counters {
		r := p.command("sh", "-c", loop)
		all.Go(func() {
			if err := r.Run(); err != nil {
				p.t.Errorf("%v\n%s", err, r.err.String())
			}
		})
	}
	all.Wait()
	got, err := strconv.Atoi(strings.TrimSpace(p.read("counter")))
	if err != nil {
		p.t.Fatal(err)
	}
	return got
}
