package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// The rules of output, all kept here:
//
//   - Standard output belongs to the command that runs under the lock. We write
//     to standard error, apart from help, version and completion.
//   - Each of our lines starts with "holdfast: " and is one line. It says what
//     is wrong and what to do next.
//   - Where standard error is a terminal, one line that is written over and over
//     tells what a wait is waiting for. Elsewhere waiting is silent.
//   - --quiet drops everything but errors and the events of --json; that the
//     lock is held is no error there, since the exit code tells.
//   - --json turns every line into a JSON object (see event), and is the only
//     output meant for machines. The command's own lines come in between.
//   - A secret never shows: what hide was given is replaced everywhere.
const prefix = "holdfast: "

// event is one line of --json. Absent fields do not apply.
type event struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"`             // see the help of run
	Name    string    `json:"name,omitempty"`    // of the lock
	Token   int64     `json:"token,omitempty"`   // the fencing token
	Holder  *holder   `json:"holder,omitempty"`  // who has the lock
	PID     int       `json:"pid,omitempty"`     // of the command
	Signal  string    `json:"signal,omitempty"`  // sent to the command
	Code    *int      `json:"code,omitempty"`    // of the command, or ours
	Waited  *float64  `json:"waited,omitempty"`  // seconds
	Held    *float64  `json:"held,omitempty"`    // seconds
	Message string    `json:"message,omitempty"` // for people
}

// ui writes for people, or for machines with json. It may be used from several
// goroutines.
type ui struct {
	json, quiet bool
	tty         bool

	mu     sync.Mutex // guards the following
	w      io.Writer
	width  func() int
	hidden []string
	drawn  bool // a waiting line stands on the screen
}

func newUI(f *os.File) *ui {
	fd := int(f.Fd())
	tty := term.IsTerminal(fd) && os.Getenv("TERM") != "dumb"
	return &ui{w: f, tty: tty, width: func() int {
		if w, _, err := term.GetSize(fd); err == nil && w > 0 {
			return w
		}
		return 80
	}}
}

// hide keeps secrets out of all that follows.
func (u *ui) hide(secrets []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.hidden = append(u.hidden, secrets...)
}

// warn says what is odd and does not end the run.
func (u *ui) warn(format string, args ...any) { u.say("warning", true, format, args...) }

// fail tells the error that ends the program.
func (u *ui) fail(err error) {
	code := exitCode(err)
	if u.json {
		u.tell(event{Event: "error", Code: &code, Message: err.Error()})
		return
	}
	u.say("error", code == exitHeld || code == exitTimeout, "%v", err)
}

func (u *ui) say(kind string, droppable bool, format string, args ...any) {
	if u.quiet && droppable {
		return
	}
	text := fmt.Sprintf(format, args...)
	if u.json {
		u.tell(event{Event: kind, Message: text})
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.erase()
	fmt.Fprintf(u.w, "%s%s\n", prefix, u.clean(text))
}

// tell writes one event where --json asked for them.
func (u *ui) tell(e event) {
	if !u.json {
		return
	}
	e.Time = time.Now().UTC()
	u.mu.Lock()
	defer u.mu.Unlock()
	e.Message = u.clean(e.Message)
	line, err := json.Marshal(e)
	if err != nil {
		line = fmt.Appendf(nil, `{"event":"error","message":%q}`, err)
	}
	fmt.Fprintf(u.w, "%s\n", line)
}

// shows reports whether anybody sees what a wait is waiting for.
func (u *ui) shows() bool { return u.json || u.tty && !u.quiet }

// draw writes the waiting line over the previous one, cut to the terminal.
func (u *ui) draw(text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	line := []rune(prefix + u.clean(text))
	if most := u.width() - 1; len(line) > most && most > 1 {
		line = append(line[:most-1], '…')
	}
	fmt.Fprintf(u.w, "\r%s\x1b[K", string(line))
	u.drawn = true
}

// clear takes the waiting line off the screen.
func (u *ui) clear() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.erase()
}

func (u *ui) erase() {
	if u.drawn {
		fmt.Fprint(u.w, "\r\x1b[K")
		u.drawn = false
	}
}

// clean removes secrets, and control characters that somebody's label or error
// may carry to this terminal.
func (u *ui) clean(text string) string {
	for _, s := range u.hidden {
		text = strings.ReplaceAll(text, s, "xxxxx")
	}
	return strings.Map(printable, text)
}

func printable(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return ' '
	case r < ' ' || r >= 0x7f && r < 0xa0:
		return -1
	}
	return r
}

// seconds is a time for machines, to the millisecond.
func seconds(d time.Duration) *float64 {
	s := float64(d.Milliseconds()) / 1000
	return &s
}
