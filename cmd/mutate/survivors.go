package main

import (
	_ "embed"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

//go:embed survivors.txt
var explained string

// A reason explains why mutants of some lines of a page survive.
type reason struct{ page, where, why string }

// reasons reads the explanations.
func reasons(text string) []reason {
	var out []reason
	for line := range strings.Lines(text) {
		page, rest, ok := strings.Cut(line, "|")
		where, why, both := strings.Cut(rest, "|")
		if ok && both && !strings.HasPrefix(line, "#") {
			out = append(out, reason{strings.TrimSpace(page), strings.TrimSpace(where), strings.TrimSpace(why)})
		}
	}
	return out
}

// explains reports whether a reason is about a survivor.
func (r reason) explains(f outcome) bool {
	place, _, _ := strings.Cut(f.What, ":")
	return path.Base(place) == r.page && f.Where == r.where
}

// survivors prints the mutants that survived, under their reasons; of all pages, also
// the reasons without a survivor.
func survivors(out io.Writer, outcomes []outcome, rs []reason, all bool) {
	groups := make([][]outcome, len(rs)+1)
	for _, f := range outcomes {
		if f.KilledBy == "" {
			i := slices.IndexFunc(rs, func(r reason) bool { return r.explains(f) })
			if i < 0 {
				i = len(rs)
			}
			groups[i] = append(groups[i], f)
		}
	}
	for i, g := range groups {
		switch {
		case i == len(rs) && len(g) > 0:
			fmt.Fprintln(out, "not explained:")
		case len(g) > 0:
			fmt.Fprintf(out, "lines of kind %s in %s: %s\n", rs[i].where, rs[i].page, rs[i].why)
		case all && i < len(rs):
			fmt.Fprintf(out, "out of date: nothing survives in lines of kind %s in %s\n", rs[i].where, rs[i].page)
		}
		for _, f := range g {
			fmt.Fprintf(out, "  survived: %s (in a line of kind %s)\n", f.What, f.Where)
		}
	}
}
