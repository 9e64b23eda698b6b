//go:build unix

package cases_test

import (
	"fmt"
	"strings"
	"sync"
)

// unique collects what must never repeat.
type unique struct {
	w    *world
	mu   sync.Mutex // guards seen
	seen map[string]bool
}

func newUnique(w *world) *unique { return &unique{w: w, seen: map[string]bool{}} }

// add notes the owner and the token of one acquisition.
func (u *unique) add(owner string, token any) {
	u.note("owner", owner)
	u.note("token", token)
}

func (u *unique) note(what string, v any) {
	u.mu.Lock()
	defer u.mu.Unlock()
	key := fmt.Sprintf("%s %v", what, v)
	if u.seen[key] {
		u.w.Errorf("%s was seen twice", key)
	}
	u.seen[key] = true
}

// addAll notes what a puppet's churn of n rounds answered.
func (u *unique) addAll(answer string, n int) {
	u.w.Helper()
	words := strings.Fields(answer)
	if len(words) != n+1 || words[0] != "ok" {
		u.w.Fatalf("churn says %.100q", answer)
	}
	for _, word := range words[1:] {
		owner, token, _ := strings.Cut(word, "/")
		u.add(owner, token)
	}
}
