package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// specsDir is the folder that holds a project's pages.
const specsDir = "specs"

// treeOf is the folder whose pages belong with a page: its outermost ancestor
// that is named specs. A page outside any such folder stands alone.
func treeOf(page string) string {
	for _, p := range []string{page, absolute(page)} {
		parts := strings.Split(filepath.ToSlash(filepath.Clean(p)), "/")
		for i, name := range parts[:len(parts)-1] {
			if name == specsDir {
				return filepath.FromSlash(strings.Join(parts[:i+1], "/"))
			}
		}
	}
	return page
}

func absolute(name string) string {
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}

// loadFor loads the pages that belong with the given ones. The tree is loaded
// under the name that the user gave, so that paths in messages are the user's.
func loadFor(pages []string, specs string) (*gen.Source, diag.List) {
	roots := slices.Clone(pages)
	if specs != "" {
		roots = append(roots, specs)
	}
	for _, p := range pages {
		if info, err := os.Stat(p); specs == "" && err == nil && !info.IsDir() {
			roots = append(roots, treeOf(p))
		}
	}
	return gen.Load(distinct(roots)...)
}

// distinct drops the roots that lie in another root, and those named twice, so
// that no page is loaded under two names.
func distinct(roots []string) []string {
	var out []string
	for i, r := range roots {
		in := func(j int) bool {
			a, b := absolute(r), absolute(roots[j])
			return i != j && (a == b && i > j || strings.HasPrefix(a, b+string(filepath.Separator)))
		}
		if !slices.ContainsFunc(indices(len(roots)), in) {
			out = append(out, r)
		}
	}
	return out
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// sameFile reports whether two names lead to one file.
func sameFile(a, b string) bool {
	x, errX := os.Stat(filepath.FromSlash(a))
	y, errY := os.Stat(filepath.FromSlash(b))
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// report prints errors and warnings and returns the exit status: notes are for
// inspect, which prints everything.
func report(ds diag.List, err io.Writer) int {
	var shown []diag.Diagnostic
	for _, d := range ds.Sorted() {
		if d.Severity != diag.Note {
			shown = append(shown, d)
		}
	}
	fmt.Fprint(err, diag.Render(shown))
	if ds.HasErrors() {
		fmt.Fprintf(err, "%s\n", tally(shown))
		return bad
	}
	return fine
}

// tally is "2 errors, 1 warning".
func tally(shown []diag.Diagnostic) string {
	n := map[diag.Severity]int{}
	for _, d := range shown {
		n[d.Severity]++
	}
	s := plural(n[diag.Error], "error")
	if n[diag.Warning] > 0 {
		s += ", " + plural(n[diag.Warning], "warning")
	}
	return s
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// unit finds a unit by name, or says which one may have been meant.
func unit(s *gen.Source, name string, err io.Writer) *notation.Unit {
	if u := s.Tree.Units[name]; u != nil {
		return u
	}
	var names []string
	for _, u := range s.Tree.Order {
		names = append(names, u.Name.Text)
	}
	fmt.Fprintf(err, "hecategen: no page defines %s\n", name)
	if n := check.Nearest(name, names); n != "" {
		fmt.Fprintf(err, "  help: did you mean %s?\n", n)
	}
	return nil
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}
