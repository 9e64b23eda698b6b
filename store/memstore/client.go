package memstore

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast"
)

// Options configure a client. Nil means all defaults.
type Options struct {
	// Client configures the client. Defaults to the defaults there.
	Client holdfast.Options
}

// New returns a client for locks on server. With a nil server, the client has
// a place of its own.
func New(server *Server, o *Options) (*holdfast.Client, error) {
	if server == nil {
		server = NewServer()
	}
	if o == nil {
		o = &Options{}
	}
	return holdfast.New(server.Store(), &o.Client)
}

// Open returns a client for the place that rawURL names: "memory:" for one of
// its own, or "memory:NAME" for the one that all clients of this process share
// by that name. The process keeps named places until it ends.
func Open(ctx context.Context, rawURL string, o *holdfast.Options) (*holdfast.Client, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return holdfast.New(NewServer().Store(), o)
	}
	return holdfast.New(named(name).Store(), o)
}

func init() { holdfast.Register("memory", Open) }

// parse returns the name in a memory: URL.
func parse(rawURL string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "memory" {
		return "", fmt.Errorf("%w: %q is no URL of a memory store: write memory: or memory:NAME", holdfast.ErrInvalid, rawURL)
	}
	name, err := url.PathUnescape(u.Opaque)
	if rest := strings.TrimPrefix(rawURL, u.Scheme+":"+u.Opaque); err != nil || rest != "" {
		return "", fmt.Errorf("%w: %q has more than a memory store's name, which takes no path, host or parameter: write memory: or memory:NAME", holdfast.ErrInvalid, rawURL)
	}
	return name, nil
}

var places = struct {
	sync.Mutex // guards m
	m          map[string]*Server
}{m: map[string]*Server{}}

// named returns the server that the process shares by name.
func named(name string) *Server {
	places.Lock()
	defer places.Unlock()
	if places.m[name] == nil {
		places.m[name] = NewServer()
	}
	return places.m[name]
}
