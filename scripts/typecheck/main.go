// Typecheck checks the types of this module, tests included, for other systems:
//
//	go run ./scripts/typecheck darwin/arm64 windows/amd64
//
// It reads the sources of all packages below as well, but not the bodies of
// their functions, so it needs no compiled packages and some seconds a system
// where a cold cross build needs a minute.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	failed := false
	for _, system := range os.Args[1:] {
		errs, err := check(system)
		if err != nil {
			errs = append(errs, err)
		}
		for _, err := range errs {
			fmt.Fprintf(os.Stderr, "%s: %v\n", system, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// listed is a package as go list prints it.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Standard        bool
	Module          *struct {
		Main      bool
		GoVersion string
	}
}

// own reports whether p is of this module, so that every error in it counts.
func (p listed) own() bool { return p.Module != nil && p.Module.Main }

// checker holds what is known of one system.
type checker struct {
	arch string
	fset *token.FileSet
	done map[string]*types.Package // by import path
	errs []error                   // of our own packages
}

// check returns the errors of our packages under system, which is OS/ARCH.
func check(system string) ([]error, error) {
	goos, arch, ok := strings.Cut(system, "/")
	if !ok {
		return nil, errors.New("give systems as OS/ARCH")
	}
	packages, err := list(goos, arch)
	if err != nil {
		return nil, err
	}
	c := &checker{arch: arch, fset: token.NewFileSet(), done: map[string]*types.Package{"unsafe": types.Unsafe}}
	for _, p := range packages {
		if strings.HasSuffix(p.ImportPath, ".test") { // a generated main
			continue
		}
		if err := c.check(p); err != nil {
			return c.errs, err
		}
	}
	return c.errs, nil
}

// list returns all packages of the module and below it, each after those that
// it imports.
func list(goos, arch string) ([]listed, error) {
	cmd := exec.Command("go", "list", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,ImportMap,Standard,Module", "./...")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var packages []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, p)
	}
}

func (c *checker) check(p listed) error {
	if p.ImportPath == "unsafe" {
		return nil
	}
	files, err := c.parse(p)
	if err != nil {
		return err
	}
	conf := types.Config{
		Importer:         importer{c, p.ImportMap},
		Sizes:            types.SizesFor("gc", c.arch),
		IgnoreFuncBodies: !p.own(),
		Error: func(err error) {
			if p.own() {
				c.errs = append(c.errs, err)
			}
		},
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	path, _, _ := strings.Cut(p.ImportPath, " ") // "a [a.test]" is a with its tests
	c.done[p.ImportPath], _ = conf.Check(path, c.fset, files, nil)
	return nil
}

func (c *checker) parse(p listed) ([]*ast.File, error) {
	files := make([]*ast.File, len(p.GoFiles))
	for i, name := range p.GoFiles {
		f, err := parser.ParseFile(c.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files[i] = f
	}
	return files, nil
}

// importer finds the packages that one package imports.
type importer struct {
	c       *checker
	renamed map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if other := i.renamed[path]; other != "" {
		path = other
	}
	if p := i.c.done[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("package %s is not known", path)
}
