package main

import (
	"context"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast"
	_ "github.com/holdfast-go/holdfast/store/memstore" // memory:
	"github.com/holdfast-go/holdfast/store/sqlitestore"
)

const (
	defaultStore = "sqlite:"
	systemStore  = "sqlite:?system=true"

	openTimeout = 5 * time.Second // until the store's first answer
)

// hostRoot is where signs of a container are looked for.
var hostRoot fs.FS = os.DirFS("/")

// store is the place where the lock lives.
type store struct {
	client   *holdfast.Client
	scope    string   // of an embedded store: who shares it
	cautions []string // what is odd about it
}

// openStore connects. Cautions are kept until it is clear that this is no nested
// run, which has nothing to add to what the outer one said.
func openStore(ctx context.Context, o *options, u *ui, label string) (*store, error) {
	where := o.url()
	s := &store{cautions: o.cautions(where)}
	if hidden := secrets(where); len(hidden) > 0 {
		u.hide(hidden)
		o.cautionPassword(u)
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	client, err := holdfast.Open(ctx, where, &holdfast.Options{Label: label, Observer: observer(u)})
	if err != nil {
		return nil, err
	}
	s.client, s.scope = client, scopeOf(where)
	return s, nil
}

func (s *store) warn(u *ui) {
	for _, c := range s.cautions {
		u.warn("%s", c)
	}
}

// close ends what the client runs; its lock was released before.
func (s *store) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	s.client.Close(ctx)
}

// url is where the lock lives.
func (o *options) url() string {
	switch {
	case o.system:
		return systemStore
	case o.store == "":
		return defaultStore
	}
	return o.store
}

// cautions are the traps of a store that the caller may not have seen.
func (o *options) cautions(where string) (list []string) {
	if strings.HasPrefix(where, "memory:") {
		list = append(list, "memory: lives in this process and excludes nobody else: use sqlite: for this machine")
	}
	if (o.system || o.store == "") && inContainer(hostRoot) {
		list = append(list, "this looks like a container, whose embedded store excludes nobody outside it: "+
			"share a folder with --store sqlite:/path on a volume, or write --store sqlite: if that is meant")
	}
	return list
}

func (o *options) cautionPassword(u *ui) {
	if o.storeFromFlag {
		u.warn("the password in --store shows in the list of processes: put the URL into HOLDFAST_STORE instead")
	}
}

// secrets returns the parts of a store URL that must never be shown.
func secrets(where string) (list []string) {
	u, err := url.Parse(where)
	if err != nil {
		return nil // Open refuses it, and shows no more than its scheme
	}
	if p, ok := u.User.Password(); ok {
		list = append(list, p, url.QueryEscape(p), url.PathEscape(p))
	}
	for key, values := range u.Query() {
		if key = strings.ToLower(key); strings.Contains(key, "pass") || strings.Contains(key, "secret") || strings.Contains(key, "token") {
			list = append(list, values...)
		}
	}
	return list
}

// scopeOf says who shares an embedded store: processes of which user, by which
// folder.
func scopeOf(where string) string {
	if !strings.HasPrefix(where, defaultStore) {
		return ""
	}
	scope, err := sqlitestore.Describe(where)
	if err != nil {
		return "" // Open has refused it
	}
	return scope
}

// observer tells what happens to the lock while the command runs: everything in
// JSON, and for people the first renewal that failed.
func observer(u *ui) func(context.Context, holdfast.Event) {
	var failed atomic.Bool
	return func(_ context.Context, e holdfast.Event) {
		switch e.Kind {
		case holdfast.RenewalFailed:
			if first := failed.CompareAndSwap(false, true); first && !u.json {
				u.warn("a renewal of lock %q failed and is tried again until the lock ends: %v", e.Name, e.Err)
			}
		case holdfast.RenewedLate, holdfast.GivenBack, holdfast.SubscriptionUp, holdfast.SubscriptionDown:
		default:
			return // told by run itself, with more to say
		}
		u.tell(event{Event: strings.ReplaceAll(e.Kind.String(), " ", "_"), Name: e.Name, Token: e.Token, Message: text(e.Err)})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
