package sqlitestore

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast"
)

// parse reads a URL. It does not use url.Parse, which has no relative paths.
func parse(s string) (*Options, error) {
	rest, ok := strings.CutPrefix(s, "sqlite:")
	if !ok {
		return nil, badURL(s, "it must start with sqlite:")
	}
	if strings.Contains(rest, "#") {
		return nil, badURL(s, "it has a fragment: write %23 for a # in the path")
	}
	path, query, _ := strings.Cut(rest, "?")
	dir, err := parsePath(path)
	if err != nil {
		return nil, badURL(s, err.Error())
	}
	o := &Options{Dir: dir}
	if err := o.parseQuery(query); err != nil {
		return nil, badURL(s, err.Error())
	}
	return o, nil
}

func badURL(s, why string) error {
	return fmt.Errorf("%w: store %q: %s", holdfast.ErrInvalid, s, why)
}

// parsePath decodes a path. sqlite:///path is sqlite:/path; a host is an error.
func parsePath(s string) (string, error) {
	if after, ok := strings.CutPrefix(s, "//"); ok {
		if !strings.HasPrefix(after, "/") {
			return "", fmt.Errorf("it names a host: the folder is on this machine, write sqlite:/%s", after)
		}
		s = after
	}
	dir, err := url.PathUnescape(s)
	if err != nil {
		return "", fmt.Errorf("%w: write %%25 for a %% in the path", err)
	}
	if dir == "~" || strings.HasPrefix(dir, "~/") {
		return "", fmt.Errorf("nothing expands ~ here: write the path of the home folder")
	}
	if strings.ContainsRune(dir, 0) {
		return "", fmt.Errorf("the path has a zero byte: remove it")
	}
	return dir, nil
}

func (o *Options) parseQuery(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return fmt.Errorf("its parameters cannot be read: %w: the only one is system=true", err)
	}
	for key, vs := range values {
		if key != "system" {
			return fmt.Errorf("unknown parameter %q: the only one is system", key)
		}
		if o.System, err = strconv.ParseBool(vs[0]); err != nil || len(vs) > 1 {
			return fmt.Errorf("system=%s: give it once, as true or false", strings.Join(vs, ","))
		}
	}
	return nil
}
