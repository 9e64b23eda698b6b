package holdfast

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Opener opens a client by URL. It is what a store package registers.
type Opener func(ctx context.Context, url string, o *Options) (*Client, error)

var schemes = struct {
	sync.Mutex // guards m
	m          map[string]Opener
}{m: make(map[string]Opener)}

// Register makes a URL scheme known to Open. Store packages call it from init;
// registering a scheme twice panics.
func Register(scheme string, open Opener) {
	schemes.Lock()
	defer schemes.Unlock()
	if _, ok := schemes.m[scheme]; ok {
		panic("holdfast: scheme " + scheme + " is registered twice")
	}
	schemes.m[scheme] = open
}

// packages are the store packages of this module, for the error of a program
// that forgot to import one.
var packages = map[string]string{
	"memory": "memstore",
	"sqlite": "sqlitestore",
}

// Open connects to the store that url names and checks that it answers; ctx
// bounds that alone, not the client. A URL or option that is wrong is ErrInvalid.
// The store's package must be imported, if only for its scheme:
//
//	import _ "github.com/holdfast-go/holdfast/store/sqlitestore"
func Open(ctx context.Context, url string, o *Options) (*Client, error) {
	scheme, _, ok := strings.Cut(url, ":")
	if !ok {
		return nil, wrap("open store", "", invalid("%q is no store URL: write SCHEME:…, for example sqlite: or memory:", redact(url)))
	}
	schemes.Lock()
	open := schemes.m[scheme]
	known := make([]string, 0, len(schemes.m))
	for s := range schemes.m {
		known = append(known, s)
	}
	schemes.Unlock()
	if open == nil {
		return nil, wrap("open store", "", unknownScheme(scheme, known))
	}
	c, err := open(ctx, url, o)
	if err != nil {
		return nil, wrap("open store", redact(url), err)
	}
	return c, nil
}

func unknownScheme(scheme string, known []string) error {
	if pkg := packages[scheme]; pkg != "" {
		return invalid("no store for %s: URLs is linked in: import _ \"github.com/holdfast-go/holdfast/store/%s\"", scheme, pkg)
	}
	slices.Sort(known)
	if len(known) == 0 {
		return invalid("no store for %q URLs: import a package of github.com/holdfast-go/holdfast/store", scheme)
	}
	return invalid("no store for %q URLs: use one of %s", scheme, strings.Join(known, ", "))
}

// redact removes the password of a URL, and all parameters where it cannot be
// parsed.
func redact(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		head, _, _ := strings.Cut(raw, "?")
		if at := strings.LastIndexByte(head, '@'); at >= 0 {
			scheme, _, _ := strings.Cut(head, ":")
			head = fmt.Sprintf("%s:…@%s", scheme, head[at+1:])
		}
		return head
	}
	return u.Redacted()
}
