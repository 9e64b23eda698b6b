package sqlitestore

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"

	"github.com/holdfast-go/holdfast"
)

// systemDir is the folder that the users of a machine share.
const systemDir = "/var/lib/holdfast"

// Options configure a client. Nil means all defaults.
type Options struct {
	// Dir is the state folder; it is made if it is missing. Defaults to
	// $XDG_STATE_HOME/holdfast, else $HOME/.local/state/holdfast; with System to
	// /var/lib/holdfast.
	Dir string
	// System shares the folder between users: those of the folder's group, or
	// all if its mode says so. Whoever may use it can break every lock in it. If
	// the folder is missing only root can make it, for root's group alone;
	// "install -d -m 2770 -g GROUP /var/lib/holdfast" makes it for a group.
	// Defaults to a folder that only its owner may write to.
	System bool
	// Client configures the client. Defaults to the defaults there.
	Client holdfast.Options
}

func init() { holdfast.Register("sqlite", Open) }

// New returns a client that keeps its locks in a folder. It touches nothing: the
// folder is opened by the first lock.
func New(o *Options) (*holdfast.Client, error) {
	s, err := NewStore(o)
	if err != nil {
		return nil, err
	}
	if o == nil {
		o = &Options{}
	}
	return holdfast.New(s, &o.Client)
}

// Open returns a client for a URL and opens its folder:
//
//	sqlite:                   the user's own state folder
//	sqlite:/path/to/folder    this folder, absolute or relative
//	sqlite:?system=true       the folder that the machine's users share
//	sqlite:/path?system=true  a folder that its group shares
//
// A path may be percent-encoded, and must be where it contains "?", "#" or "%".
// The client is for all goroutines of the program; ctx bounds the opening only.
func Open(ctx context.Context, url string, o *holdfast.Options) (*holdfast.Client, error) {
	opts, err := parse(url)
	if err != nil {
		return nil, err
	}
	s, err := NewStore(opts)
	if err != nil {
		return nil, err
	}
	c, err := holdfast.New(s, o)
	if err != nil {
		return nil, err
	}
	if err := c.Ping(ctx); err != nil {
		_ = c.Close(ctx)
		return nil, err
	}
	return c, nil
}

// Describe says in a few words whom the locks of a URL exclude: "user ann,
// folder /home/ann/.local/state/holdfast".
func Describe(url string) (string, error) {
	o, err := parse(url)
	if err != nil {
		return "", err
	}
	p, err := o.place()
	if err != nil {
		return "", err
	}
	if p.shared {
		return "this machine, folder " + p.dir, nil
	}
	return "user " + userName() + ", folder " + p.dir, nil
}

func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return fmt.Sprint(os.Geteuid())
}

// place is the folder that o means.
func (o *Options) place() (place, error) {
	if o == nil {
		o = &Options{}
	}
	dir := o.Dir
	if o.System {
		dir = cmp.Or(dir, systemDir)
	}
	if dir == "" {
		var err error
		if dir, err = userDir(); err != nil {
			return place{}, err
		}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return place{}, fmt.Errorf("%w: folder %q: %w: name it by an absolute path", holdfast.ErrInvalid, dir, err)
	}
	return place{dir: abs, shared: o.System}, nil
}

// userDir follows the XDG base directory specification, which says to ignore a
// path that is not absolute.
func userDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "holdfast"), nil
	}
	if home := os.Getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "holdfast"), nil
	}
	return "", fmt.Errorf("%w: no folder for locks: neither $XDG_STATE_HOME nor $HOME is an absolute path: set one, name a folder (Options.Dir, --store sqlite:/path), or share the machine's (Options.System, --system)", holdfast.ErrInvalid)
}
