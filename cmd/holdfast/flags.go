package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/holdfast-go/holdfast"
	"github.com/spf13/cobra"
)

const (
	defaultTTL = 30 * time.Second
	maxLabel   = 256
)

// options are the flags of run.
type options struct {
	store                                  string
	system                                 bool
	wait, ttl, maxHold, atLeast, killGrace time.Duration
	noWait                                 bool
	label                                  string
	onLost                                 string
	heldExit                               int // -1: our own codes
	storeFromFlag                          bool
	quiet, json                            bool
	ofLock                                 []string // flags given that only a run which takes the lock obeys
}

func (o *options) register(c *cobra.Command) {
	f := c.Flags()
	f.SortFlags = false
	f.Var(&words{&o.store, "URL"}, "store", "where the lock lives; default $HOLDFAST_STORE, else sqlite:, this user on this machine")
	f.BoolVar(&o.system, "system", false, "the embedded store that all users of this machine share")
	f.Var((*duration)(&o.wait), "wait", "give up after this long; default: wait as long as it takes")
	f.BoolVar(&o.noWait, "no-wait", false, "give up at once if the lock is held")
	f.Var((*duration)(&o.ttl), "ttl", "how long the lock outlives a machine that dies, renewed while the command runs; default 30s")
	f.Var((*duration)(&o.maxHold), "max-hold", "end the command after this long")
	f.Var((*duration)(&o.atLeast), "at-least", "keep the lock taken at least this long, so that a short job runs once per round")
	f.Var(&words{&o.label, "TEXT"}, "label", "shown to those who wait; default: the command's name")
	o.onLost = "kill"
	f.Var((*onLost)(&o.onLost), "on-lost", "when the lock is lost, kill the command or only warn")
	f.Var((*duration)(&o.killGrace), "kill-grace", "time to stop when the lock is lost, before anyone else may get it; default a tenth of the TTL")
	o.heldExit = -1
	f.Var((*code)(&o.heldExit), "held-exit", "exit code if the lock is held, instead of 74 and 75")
	f.BoolVar(&o.quiet, "quiet", false, "no warnings, no waiting line, nothing when the lock is held; errors only")
	f.BoolVar(&o.json, "json", false, "events on standard error, one JSON object a line")
}

// settle fills in what other flags and the environment decide, and checks how
// the flags fit together.
func (o *options) settle(c *cobra.Command) error {
	o.storeFromFlag = c.Flags().Changed("store")
	for _, name := range []string{"ttl", "max-hold", "at-least", "on-lost", "kill-grace"} {
		if c.Flags().Changed(name) {
			o.ofLock = append(o.ofLock, "--"+name)
		}
	}
	if env := os.Getenv("HOLDFAST_STORE"); !o.storeFromFlag && !o.system && env != "" {
		o.store = env
	}
	switch {
	case o.noWait && o.wait > 0:
		return usagef("--wait and --no-wait contradict each other: leave one out")
	case o.system && o.storeFromFlag:
		return usagef("--system and --store name two stores: leave one out")
	case o.storeFromFlag && o.store == "":
		return usagef("--store is empty: write a URL such as sqlite:/var/lib/app/locks, or leave it out")
	}
	return cmp.Or(o.checkLabel(), o.checkGrace())
}

func (o *options) checkLabel() error {
	if len(o.label) > maxLabel {
		return usagef("--label has %d bytes: at most %d are allowed, shorten it", len(o.label), maxLabel)
	}
	if i := strings.IndexFunc(o.label, unicode.IsControl); i >= 0 {
		return usagef("--label %q has a control character at byte %d: remove it", o.label, i)
	}
	return nil
}

// checkGrace leaves room for the drift allowance, which with the grace may take
// half of the TTL.
func (o *options) checkGrace() error {
	if most := o.life() / 20 * 9; o.killGrace > most {
		return usagef("--kill-grace %v is too long for a TTL of %v: give at most %v, or raise --ttl", o.killGrace, o.life(), most)
	}
	return nil
}

// life is how long the store keeps the lock after the last sign of life.
func (o *options) life() time.Duration {
	if o.ttl == 0 {
		return max(defaultTTL, o.atLeast)
	}
	return max(o.ttl, o.atLeast)
}

// grace is the time between the end of the lease and the moment from which the
// store may grant the lock to another.
func (o *options) grace() time.Duration {
	if o.killGrace == 0 {
		return o.life() / 10
	}
	return o.killGrace
}

func (o *options) mutex() *holdfast.MutexOptions {
	return &holdfast.MutexOptions{
		TTL: o.ttl, MaxHold: o.maxHold, AtLeast: o.atLeast, Margin: o.grace(), Wait: o.wait,
	}
}

// heldCode is what the program ends with when the lock is held.
func (o *options) heldCode(own int) int {
	if o.heldExit >= 0 {
		return o.heldExit
	}
	return own
}

// words is a flag for any string, whose kind the help names.
type words struct {
	value *string
	kind  string
}

func (t *words) Type() string   { return t.kind }
func (t *words) String() string { return *t.value }

func (t *words) Set(s string) error {
	*t.value = s
	return nil
}

// duration is a flag for a positive time.
type duration time.Duration

func (d *duration) Type() string { return "DUR" }

func (d *duration) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

var errNotLonger = errors.New("is not longer than 0: give a longer time, or leave the flag out")

func (d *duration) Set(s string) error {
	const remedy = "write it like 500ms, 30s, 5m or 1h30m"
	v, err := time.ParseDuration(s)
	if _, number := strconv.ParseFloat(s, 64); number == nil && err != nil {
		return errors.New("has no unit: " + remedy)
	}
	if err != nil {
		return errors.New("is no length of time, or one of centuries: " + remedy)
	}
	if v <= 0 {
		return errNotLonger
	}
	*d = duration(v)
	return nil
}

// onLost is a flag for what happens when the lock is lost.
type onLost string

func (o *onLost) Type() string   { return "kill|warn" }
func (o *onLost) String() string { return string(*o) }

func (o *onLost) Set(s string) error {
	if s != "kill" && s != "warn" {
		return errors.New("is not known: write kill or warn")
	}
	*o = onLost(s)
	return nil
}

// code is a flag for an exit code.
type code int

func (c *code) Type() string { return "N" }

func (c *code) String() string {
	if *c < 0 {
		return ""
	}
	return strconv.Itoa(int(*c))
}

func (c *code) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 255 {
		return fmt.Errorf("is no exit code: give a number from 0 to 255")
	}
	*c = code(n)
	return nil
}
