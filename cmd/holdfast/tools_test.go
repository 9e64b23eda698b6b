//go:build unix

package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite" // for jam
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

// hold makes the file UP with its pid and ends when the file STOP is there, or
// its folder is gone: hold UP STOP
func hold(args []string) error {
	if err := writeWhole(args[0], fmt.Appendln(nil, os.Getpid())); err != nil {
		return err
	}
	awaitStop(args[0], args[1])
	return nil
}

func awaitStop(up, stop string) {
	for range tick(time.Millisecond) {
		if exists(stop) || !exists(up) {
			return
		}
	}
}

// jam keeps all other writers out of a SQLite database from when UP is there
// until STOP is: jam DATABASE UP STOP
func jam(args []string) error {
	db, err := sql.Open("sqlite", "file:"+args[0]+"?_txlock=immediate&_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	if err := writeWhole(args[1], []byte("jammed\n")); err != nil {
		return err
	}
	awaitStop(args[1], args[2])
	return tx.Rollback()
}

// beat appends the time to FILE, again and again, and does not end when asked
// to: it writes "term" for each TERM. It ends when FILE is gone: beat FILE
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
		if err != nil || !exists(args[0]) {
			return err
		}
	}
}

// stamp writes the time into FILE: stamp FILE
func stamp(args []string) error {
	return writeWhole(args[0], fmt.Appendln(nil, now()))
}

// catch makes UP and appends the name of each signal it gets to LOG, until HUP:
// catch UP LOG
func catch(args []string) error {
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

// patience bounds every wait for a condition. It is for a machine with a lot
// else to do; a test that needs it has failed.
const patience = 30 * time.Second

// eventually polls until the condition is met.
func eventually(met func() bool) bool {
	end := time.After(patience)
	for poll := time.NewTicker(2 * time.Millisecond); ; {
		if met() {
			return true
		}
		select {
		case <-poll.C:
		case <-end:
			return false
		}
	}
}

// now is the time that all processes of this machine share, in nanoseconds.
func now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err)
	}
	return ts.Nano()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
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
