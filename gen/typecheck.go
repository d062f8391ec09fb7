package gen

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/inspect"
	"github.com/nl-hecate/hecate/gen/source"
)

// TypeCheck resolves and types every unit of the project, and returns what is wrong with
// them. Nothing is proved or lowered.
func (s *Source) TypeCheck() diag.List {
	var all diag.List
	for _, u := range s.Tree.Order {
		if !Standalone(u) || !s.Own(u) {
			continue
		}
		c := newCompiler(s, u, Config{})
		func() {
			defer caught(u, codeStage, c.ds)
			c.run(codeStage, "ir")
		}()
		all.Append(*c.ds)
		if c.blk != nil && !u.Example {
			all.Append(c.blk.Inputs())
		}
	}
	return firstAtEachPlace(all)
}

// References resolves what the project's pages cite and name. Files are sought as they
// are named, and under the root.
func (s *Source) References(root string) diag.List {
	exists := func(name string) bool {
		info, err := os.Stat(name)
		return err == nil && info.Mode().IsRegular()
	}
	bib, ds := s.Papers()
	ds.Append(inspect.Resolve(s.Pages, bib, func(name string) bool {
		return exists(name) || exists(filepath.Join(root, name))
	}))
	return s.OwnMessages(ds)
}

// firstAtEachPlace keeps one of several messages with one code at one place: a line of a
// front is built in every rule over it.
func firstAtEachPlace(ds diag.List) diag.List {
	type key struct {
		code diag.Code
		span source.Span
	}
	var out diag.List
	var seen []key
	for _, d := range ds.Sorted() {
		k := key{d.Code, d.Span}
		if !d.Span.IsZero() && slices.Contains(seen, k) {
			continue
		}
		seen = append(seen, k)
		out.Add(d)
	}
	return out
}
