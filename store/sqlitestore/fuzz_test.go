//go:build linux || darwin || freebsd

package sqlitestore

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast"
)

// FuzzURL: whatever a URL says, it names an absolute folder or is refused as
// invalid.
func FuzzURL(f *testing.F) {
	for _, url := range []string{
		"sqlite:", "sqlite:/a%20b", "sqlite:a/../..", "sqlite:///a", "sqlite://host/a", "sqlite:?system=true",
		"sqlite:/a?system=1&system=0", "sqlite:%", "sqlite:/a#b", "sqlite:/%00", "redis:",
	} {
		f.Add(url)
	}
	f.Setenv("HOME", "/home/ann")
	f.Setenv("XDG_STATE_HOME", "")
	f.Fuzz(func(t *testing.T, url string) {
		o, err := parse(url)
		if err != nil {
			if !errors.Is(err, holdfast.ErrInvalid) {
				t.Errorf("%q: %v is not ErrInvalid", url, err)
			}
			return
		}
		p, err := o.place()
		if err != nil || !filepath.IsAbs(p.dir) || strings.ContainsRune(p.dir, 0) {
			t.Errorf("%q is %+v, %v", url, p, err)
		}
	})
}
