package gen

import (
	"maps"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/cache"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/marker"
	"github.com/nl-hecate/hecate/gen/safety"
	"github.com/nl-hecate/hecate/gen/spec"
	"github.com/nl-hecate/hecate/gen/tree"
)

// combinations adds the types of the legal combinations of the knobs, where the
// project has a knob of its own.
func (p *Project) combinations(e *Emission) diag.List {
	knobs := slices.DeleteFunc(p.Knobs(), func(u *notation.Unit) bool { return u.Example })
	if !slices.ContainsFunc(knobs, p.Own) {
		return diag.List{}
	}
	from := []cache.Input{cache.Compiler(), cache.NewInput("the folders of the project", p.conf.home())}
	for _, u := range p.Tree.Closure(knobs...).Order {
		from = append(from, p.digests[u])
	}
	const id, stage = "(all)", "combinations"
	var out tree.Files
	if _, ok := p.cache.Get(id, stage, from, &out); !ok {
		table, ds := Combinations(p.Source)
		if ds.HasErrors() {
			return ds
		}
		out = emitgo.Safety(p.conf.home(), choices(p.Source, table))
		if ds.Len() > 0 {
			maps.Copy(e.Files, out)
			return ds
		}
		p.cache.Put(id, stage, from, out)
	}
	maps.Copy(e.Files, out)
	return diag.List{}
}

// Combinations is the table of the knobs of a source. So many legal combinations
// have been built that all knobs have met, and each keeps its states in the sets
// that their pages declare for them.
func Combinations(s *Source) (*safety.Table, diag.List) {
	t, ds := safety.New(s.Tree)
	if !ds.HasErrors() {
		ds.Append(t.Build(t.Covering(), marker.KeepsRows))
	}
	return t, ds
}

// choices is the table for the emitters, each value with the purpose of its page.
func choices(s *Source, t *safety.Table) *abi.Choices {
	c := t.Choices()
	for _, slot := range c.Slots {
		for i := range slot.Values {
			v := &slot.Values[i]
			u := s.Tree.Units[v.Name]
			v.Page, v.Doc = s.Path(u.Span.File.Path), s.Purpose(u)
		}
	}
	return c
}

// Purpose is the purpose in the contract of a unit's page, where the page is about this
// unit alone.
func (s *Source) Purpose(u *notation.Unit) string {
	for i, p := range s.Pages {
		if p.File == u.Span.File && p.Header != nil && len(s.Files[i].Units) == 1 {
			return strings.Join(strings.Fields(p.Header.Value(spec.Purpose)), " ")
		}
	}
	return ""
}
