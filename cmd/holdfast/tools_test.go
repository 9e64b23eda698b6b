package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// The commands that tests run under the lock. They know the time that all
// processes of this machine share, so that tests compare what really happened.

// tool is a main function that fails loudly.
func tool(f func(args []string) error) func() {
	return func() {
		if err := f(os.Args[1:]); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
			os.Exit(1)
		}
	}
}

// hold makes the file UP with its pid and ends when the file STOP is there:
// hold UP STOP
func hold(args []string) error {
	if err := os.WriteFile(args[0], fmt.Appendln(nil, os.Getpid()), 0o644); err != nil {
		return err
	}
	for range tick(time.Millisecond) {
		if _, err := os.Stat(args[1]); err == nil {
			break
		}
	}
	return nil
}

// beat appends the time to FILE, again and again, and does not end when asked
// to: it writes "term" for each TERM. Its first beat is there when FILE is.
func beat(args []string) error {
	f, err := os.OpenFile(args[0], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	terms := make(chan os.Signal, 8)
	signal.Notify(terms, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	ticks := tick(time.Millisecond)
	for {
		select {
		case <-terms:
			_, err = fmt.Fprintln(f, "term")
		case <-ticks:
			_, err = fmt.Fprintln(f, now())
		}
		if err != nil {
			return err
		}
	}
}

// stamp writes the time into FILE: stamp FILE
func stamp(args []string) error {
	return writeWhole(args[0], fmt.Appendln(nil, now()))
}

// trap makes UP and appends the name of each signal it gets to LOG, until HUP:
// trap UP LOG
func trap(args []string) error {
	sigs := make(chan os.Signal, 64)
	signal.Notify(sigs, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	f, err := os.OpenFile(args[1], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if err := writeWhole(args[0], fmt.Appendln(nil, os.Getpid())); err != nil {
		return err
	}
	for s := range sigs {
		if _, err := fmt.Fprintln(f, s); err != nil {
			return err
		}
		if s == syscall.SIGHUP {
			return nil
		}
	}
	return errors.New("no more signals")
}

// writeWhole makes a file appear with all its content.
func writeWhole(path string, data []byte) error {
	if err := os.WriteFile(path+".tmp", data, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// tick returns a channel that delivers every d, for as long as the process runs.
func tick(d time.Duration) <-chan time.Time { return time.NewTicker(d).C }
