package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/spf13/cobra"
)

const closeTimeout = 3 * time.Second

// runner is one holdfast run.
type runner struct {
	opts  options
	ui    *ui
	name  string
	argv  []string
	path  string // of the command
	sigs  chan os.Signal
	held  []outer
	store *store
}

func newRun(u *ui) *cobra.Command {
	r := &runner{ui: u}
	c := &cobra.Command{
		Use:                   "run [flags] NAME -- COMMAND [ARG...]",
		Short:                 "Run a command while holding a lock",
		Long:                  runHelp,
		Example:               runExamples,
		DisableFlagsInUseLine: true,
		ValidArgsFunction:     completeRun,
		RunE: func(c *cobra.Command, args []string) error {
			if err := r.read(c, args); err != nil {
				return withCode(err)
			}
			return withCode(r.run())
		},
	}
	r.opts.register(c)
	c.RegisterFlagCompletionFunc("on-lost", cobra.FixedCompletions([]string{"kill", "warn"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// completeRun offers files for the command and nothing for the name.
func completeRun(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// read checks everything that can be checked without a store.
func (r *runner) read(c *cobra.Command, args []string) error {
	r.ui.quiet, r.ui.json = r.opts.quiet, r.opts.json
	if err := r.split(args, c.ArgsLenAtDash()); err != nil {
		return err
	}
	if err := driver.CheckName(r.name); err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	if err := r.opts.settle(c); err != nil {
		return err
	}
	var err error
	r.path, err = findCommand(r.argv[0])
	return err
}

// split parts the arguments at "--", of which names stand before it.
func (r *runner) split(args []string, names int) error {
	switch {
	case len(args) == 0:
		return usagef("which lock, and which command? write holdfast run NAME -- COMMAND, such as holdfast run backup -- ./backup.sh")
	case names < 0 && len(args) == 1:
		return usagef("what shall run under %q? write holdfast run %s -- COMMAND", args[0], args[0])
	case names < 0:
		return usagef(`"--" is missing before the command: write holdfast run %s -- %s`, args[0], strings.Join(args[1:], " "))
	case names == 0:
		return usagef("which lock? write a name before --: holdfast run NAME -- %s", args[0])
	case names > 1:
		return usagef("%d names before --: one lock at a time, nest a second run for another", names)
	case len(args) == 1:
		return usagef("what shall run under %q? write a command after --", args[0])
	}
	r.name, r.argv = args[0], args[1:]
	return nil
}

// run takes the lock, runs the command, and releases.
func (r *runner) run() error {
	r.sigs = catchSignals()
	ctx, stop := untilSignal(r.sigs)
	g, err := r.enter(ctx)
	stop()
	if r.store != nil {
		defer r.store.close()
	}
	if sig, ok := signalOf(ctx); ok {
		g.lease.Unlock() // nil if there is none
		return quiet(exitSignal + int(sig))
	}
	switch {
	case err != nil:
		return err
	case g.nest.same != nil:
		return r.runInside(*g.nest.same)
	}
	return r.work(g)
}

// entry is what lets the command run: a lease, or the same lock around us.
type entry struct {
	lease *holdfast.Lease
	nest  nesting
}

func (r *runner) enter(ctx context.Context) (e entry, err error) {
	if r.held, err = outerLocks(); err != nil {
		r.ui.warn("%v", err)
	}
	if r.store, err = openStore(ctx, &r.opts, r.ui, r.label()); err != nil {
		return e, err
	}
	if e.nest, err = verifyNesting(ctx, r.store.client, r.held, r.name); err != nil || e.nest.same != nil {
		return e, err
	}
	r.store.warn(r.ui)
	e.lease, err = r.lock(ctx)
	return e, err
}

// label is what others see: given, or the command's name without arguments,
// which may hold secrets.
func (r *runner) label() string {
	if r.opts.label != "" {
		return r.opts.label
	}
	return filepath.Base(r.argv[0])
}

func (r *runner) lock(ctx context.Context) (*holdfast.Lease, error) {
	m := r.store.client.Mutex(r.name, r.opts.mutex())
	start := time.Now()
	lease, err := r.take(ctx, m)
	if err == nil {
		r.ui.tell(event{Event: "acquired", Name: r.name, Token: lease.Token(), Waited: seconds(time.Since(start))})
		return lease, nil
	}
	if ctx.Err() == nil && errors.Is(err, holdfast.ErrHeld) {
		return nil, r.isHeld(ctx, err, time.Since(start))
	}
	return nil, err
}

func (r *runner) take(ctx context.Context, m *holdfast.Mutex) (*holdfast.Lease, error) {
	if r.opts.noWait {
		return m.TryLock(ctx)
	}
	stop := startWatch(ctx, &watch{ui: r.ui, client: r.store.client, name: r.name, scope: r.store.scope})
	defer stop()
	return m.Lock(ctx)
}

// isHeld names the holder in one line and returns the code for it.
func (r *runner) isHeld(ctx context.Context, err error, waited time.Duration) error {
	code := r.opts.heldCode(exitCode(err))
	h := r.whoHolds(ctx, err)
	r.ui.tell(event{Event: "held", Name: r.name, Holder: h, Waited: seconds(waited), Code: &code})
	if !r.ui.json {
		r.ui.say("held", true, "lock %q is %s: %s; %s did not run", r.name, h, r.patience(waited), r.argv[0])
	}
	return quiet(code)
}

func (r *runner) patience(waited time.Duration) string {
	if r.opts.noWait {
		return "--no-wait was given"
	}
	return fmt.Sprintf("waited %s", short(waited))
}

// whoHolds asks the store for the holder's host and pid; it may have changed.
func (r *runner) whoHolds(ctx context.Context, err error) *holder {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	if h, err := r.store.client.Holder(ctx, r.name); err == nil {
		return holderOf(h)
	}
	var held *holdfast.HeldError
	if errors.As(err, &held) {
		return &holder{Owner: held.Owner, Resting: held.Resting}
	}
	return &holder{}
}

// runInside runs the command under the lock that is held around us, in our
// place: the outer run renews, watches and releases.
func (r *runner) runInside(o outer) error {
	r.ui.tell(event{Event: "nested", Name: r.name, Token: o.Token})
	if len(r.opts.ofLock) > 0 {
		r.ui.warn("a run around this one holds lock %q, and its flags count: %s do nothing here", r.name, strings.Join(r.opts.ofLock, ", "))
	}
	r.store.close()
	select {
	case s := <-r.sigs: // it would be lost with us
		if n, ends := ending(s); ends {
			return quiet(exitSignal + int(n))
		}
	default:
	}
	err := replaceSelf(childSpec{path: r.path, argv: r.argv, env: commandEnv(r.held, o.Name, o.Token), nested: true})
	return startError(r.argv[0], err)
}

// work runs the command and tells what became of it.
func (r *runner) work(e entry) error {
	if err := e.lease.Check(); err != nil {
		e.lease.Unlock()
		return fmt.Errorf("%s did not run: %w", r.argv[0], err)
	}
	held := append(r.held, outer{Name: r.name, Token: e.lease.Token(), Owner: e.lease.Fingerprint()})
	c, err := startChild(childSpec{
		path: r.path, argv: r.argv, env: commandEnv(held, r.name, e.lease.Token()),
		inherit: r.store.client.Inherit(), nested: e.nest.inside,
	}, r.sigs)
	if err != nil {
		e.lease.Unlock()
		return startError(r.argv[0], err)
	}
	r.ui.tell(event{Event: "started", Name: r.name, Token: e.lease.Token(), PID: c.pid})
	start := time.Now()
	j := &job{ui: r.ui, lease: e.lease, child: c, sigs: r.sigs, grace: r.opts.grace(), warnOnly: r.opts.onLost == "warn", nested: e.nest.inside}
	code, cut := j.follow()
	c.close(code > exitSignal || cut)
	if j.survives {
		return quiet(code)
	}
	return r.finish(e.lease, code, cut, time.Since(start))
}

// finish releases the lock and settles the exit code. A command that ended by
// itself after the lock was lost ran unprotected, which its own code must not
// hide unless --on-lost warn says so.
func (r *runner) finish(l *holdfast.Lease, code int, cut bool, took time.Duration) error {
	if !cut {
		r.ui.tell(event{Event: "exited", Name: r.name, Code: &code, Held: seconds(took)})
	}
	err := l.Unlock()
	switch {
	case err == nil:
		r.ui.tell(event{Event: "released", Name: r.name, Token: l.Token()})
	case cut || r.opts.onLost == "warn" && errors.Is(err, holdfast.ErrLost):
	case errors.Is(err, holdfast.ErrLost):
		return &exitError{code: exitLost, err: fmt.Errorf("lock %q was lost before %s ended, with code %d: it may have run while another held the lock", r.name, r.argv[0], code)}
	default:
		r.ui.warn("could not confirm the release, so that %q may stay taken for up to %s: %v", r.name, r.opts.life(), err)
	}
	return quiet(code)
}
