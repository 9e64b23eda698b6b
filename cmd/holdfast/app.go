package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// run executes the program with args and returns its exit code.
func run(args []string) int {
	u := newUI(os.Stderr)
	u.json = slices.Contains(ownArgs(args), "--json") // a guess, for flags that cannot be parsed
	root := newApp(u)
	root.SetArgs(args)
	err := root.Execute()
	u.clear()
	if err == nil {
		return 0
	}
	var coded *exitError
	if !errors.As(err, &coded) { // what cobra itself found
		coded = &exitError{code: exitUsage, err: fmt.Errorf("%w: see holdfast --help", err)}
	}
	if coded.err != nil {
		u.fail(coded)
	}
	return coded.code
}

// ownArgs are the arguments before "--".
func ownArgs(args []string) []string {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[:i]
	}
	return args
}

func newApp(u *ui) *cobra.Command {
	root := &cobra.Command{
		Use:   "holdfast",
		Short: "Run commands under a distributed lock",
		Long: `Holdfast runs a command while it holds a lock, so that only one of many
processes runs it at a time.`,
		Example: `  holdfast run backup -- ./backup.sh             wait for the lock, then run
  holdfast run --no-wait backup -- ./backup.sh   run only if nobody else does
  holdfast help run                              flags, exit codes, more examples`,
		SilenceErrors: true,
		SilenceUsage:  true,

		SuggestionsMinimumDistance: 2,
		Args:                       noArgs,
		RunE:                       func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetErr(os.Stderr)
	root.SetOut(os.Stdout)
	root.SetFlagErrorFunc(flagError)
	root.Version = version()
	root.SetVersionTemplate(versionLine())
	root.AddCommand(newRun(u), newVersion())
	root.SetHelpCommand(newHelp())
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Args, c.RunE = knownShell, root.RunE
	}
	return root
}

func knownShell(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usagef("there is no completion for %q: write bash, fish, powershell or zsh", args[0])
}

func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return usagef("there is no command %q: did you mean %q?", args[0], near[0])
	}
	return usagef("there is no command %q: to run it under a lock write holdfast run NAME -- %s", args[0], args[0])
}

func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print the help of a command",
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("there is no help on %q: holdfast help lists the commands", args[len(args)-1])
			}
			return about.Help()
		},
	}
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(c.OutOrStdout(), versionLine())
			return err
		},
	}
}

func versionLine() string {
	return fmt.Sprintf("holdfast %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func version() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "(devel)"
}

// flagError says what is wrong with a flag: the value, the rule, the remedy.
func flagError(c *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	var need *pflag.ValueRequiredError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &value) && value.GetFlag().Value.Type() == "bool":
		return usagef("--%s %q is neither true nor false: leave the value out", value.GetFlag().Name, value.GetValue())
	case errors.As(err, &value) && value.GetFlag().Name == "wait" && errors.Is(err, errNotLonger):
		return usagef("--wait %q is not longer than 0: write --no-wait to give up at once", value.GetValue())
	case errors.As(err, &value):
		return usagef("--%s %q %w", value.GetFlag().Name, value.GetValue(), value.Unwrap())
	case errors.As(err, &need):
		return usagef("--%s needs a value: write --%[1]s %s", need.GetFlag().Name, need.GetFlag().Value.Type())
	case errors.As(err, &unknown) && nearFlag(c, unknown.GetSpecifiedName()) != "":
		return usagef("%w: did you mean --%s?", err, nearFlag(c, unknown.GetSpecifiedName()))
	case errors.As(err, &unknown):
		return usagef("%w: holdfast help run lists the flags; flags of the command come after --", err)
	}
	return usagef("%w: holdfast help run lists the flags", err)
}

// nearFlag finds the flag that was meant by a name with its hyphens lost.
func nearFlag(c *cobra.Command, name string) (near string) {
	plain := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "") }
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if plain(f.Name) == plain(strings.ReplaceAll(name, "_", "-")) {
			near = f.Name
		}
	})
	return near
}
