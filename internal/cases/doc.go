// Package cases has no code of its own. Its tests, for Unix systems, replay what
// went wrong with other lock libraries in production; docs/cases.md lists them
// by number.
package cases
