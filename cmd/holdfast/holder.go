package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
)

// holder is who has a lock, as people and --json see it.
type holder struct {
	Host    string     `json:"host,omitempty"`
	PID     int        `json:"pid,omitempty"`
	Program string     `json:"program,omitempty"`
	Label   string     `json:"label,omitempty"`
	Owner   string     `json:"owner,omitempty"` // short form of the owner id
	Since   *time.Time `json:"since,omitempty"`
	Resting bool       `json:"resting,omitempty"` // nobody works: --at-least has not passed
}

func holderOf(h holdfast.Holder) *holder {
	w := &holder{Host: h.Host, PID: h.PID, Program: h.Program, Label: h.Label, Owner: h.Owner, Resting: h.Resting}
	if !h.Since.IsZero() {
		since := h.Since.UTC().Round(time.Millisecond)
		w.Since = &since
	}
	return w
}

// String continues "lock x is ": the resting or the held form.
func (w *holder) String() string {
	if w.Resting {
		return "kept taken by its last holder's --at-least" + w.since()
	}
	return "held by " + w.who() + w.since() + w.what()
}

func (w *holder) who() string {
	if w.Host == "" && w.PID == 0 {
		return "owner " + w.Owner
	}
	return fmt.Sprintf("pid %d on %s", w.PID, w.Host)
}

// what comes last, since a narrow terminal cuts the end off.
func (w *holder) what() string {
	what := strings.TrimSpace(w.Program + " " + w.Label)
	if what == "" {
		return ""
	}
	return " (" + what + ")"
}

func (w *holder) since() string {
	if w.Since == nil {
		return ""
	}
	return " since " + w.Since.Local().Format("15:04:05")
}

// short rounds a time to what a person reads.
func short(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}
