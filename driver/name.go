package driver

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxNameBytes is the length of the longest legal name.
const MaxNameBytes = 1024

// CheckName reports why name cannot name a lock in every store, or nil. Names
// are UTF-8 of 1 to 1,024 bytes without control characters. Braces are the hash
// tags of Redis Cluster, where they decide which keys live together: a "{"
// needs a later "}" with something between, and a "}" needs a "{" in the name.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("name is empty: give 1 to %d bytes", MaxNameBytes)
	case len(name) > MaxNameBytes:
		return fmt.Errorf("name %q… has %d bytes: at most %d are allowed; hash the long part yourself", clip(name, 32), len(name), MaxNameBytes)
	case !utf8.ValidString(name):
		return fmt.Errorf("name %q is not UTF-8: encode it first, in hex for instance", clip(name, 64))
	}
	for i, r := range name {
		if unicode.IsControl(r) {
			return fmt.Errorf("name %q has the control character %U at byte %d: remove it", clip(name, 64), r, i)
		}
	}
	return checkBraces(name)
}

func checkBraces(name string) error {
	open := strings.IndexByte(name, '{')
	if open < 0 {
		if strings.IndexByte(name, '}') >= 0 {
			return fmt.Errorf("name %q has a \"}\" without a \"{\": remove it or write {tag}", clip(name, 64))
		}
		return nil
	}
	shut := strings.IndexByte(name[open:], '}')
	switch {
	case shut < 0:
		return fmt.Errorf("name %q has a \"{\" without a later \"}\": remove it or write {tag}", clip(name, 64))
	case shut == 1:
		return fmt.Errorf("name %q has empty braces: put a tag between them or remove them", clip(name, 64))
	}
	return nil
}

// clip shortens s to about n bytes for a message.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
