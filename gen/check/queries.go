package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// PerChunk reports whether a state begins again with every call.
func (s *Symbol) PerChunk() bool {
	return s.Kind == State && s.Decl != nil && attribute(s.Decl, "per chunk") != nil
}

// Drawn reports whether a constant has a start on its page; otherwise the caller gives it.
func (s *Symbol) Drawn() bool {
	return s.Kind == Constant && s.Decl != nil && (s.Decl.Init != nil || s.Decl.Dist != nil)
}

// NoGrad is the line that stops the gradient of a learned parameter, or nil.
func (b *Block) NoGrad(name string) *notation.NoGrad {
	for _, n := range b.NoGrads {
		if n.Name.Text == name {
			return n
		}
	}
	return nil
}

// AnchorOf is the anchor of a state, or nil if nothing reads one. M_0 is an anchor too.
func (b *Block) AnchorOf(state string) *Symbol {
	for _, s := range b.SymSeq {
		if s.Kind == Anchor && s.Of == state {
			return s
		}
	}
	return nil
}

// NonzeroStart reports whether a state, or the state of an anchor, starts from a number
// other than zero or from a learned value.
func (b *Block) NonzeroStart(s *Symbol) bool {
	if s != nil && s.Kind == Anchor {
		s = b.Symbols[s.Of]
	}
	if s == nil || s.Decl == nil || s.Decl.Init == nil {
		return false
	}
	n, ok := notation.Constant(s.Decl.Init)
	return !ok || n != 0
}

// RowSets are the properties that say which set contains the rows of a state.
var RowSets = map[string]notation.TypeKind{"UnitSphere": notation.SphereType, "ProbabilitySimplex": notation.SimplexType, "Simplex": notation.SimplexType}

// RowSet is the kind of set that contains the rows of a state: its type, or, if that is
// real, a property that a page of the rule provides.
func (b *Block) RowSet(s *Symbol) notation.TypeKind {
	if s.Type == nil {
		return notation.RealType
	}
	if s.Type.Kind == notation.RealType {
		for _, pr := range b.Provides {
			for _, m := range pr.Marks {
				if kind, rows := RowSets[m.Name.Text]; rows && !pr.Needs && b.describes(m, s) {
					return kind
				}
			}
		}
	}
	return s.Type.Kind
}

// describes reports whether a property is of a state: by its name, or, on the page of a
// knob, as one of any weight.
func (b *Block) describes(m *notation.Mark, state *Symbol) bool {
	return slices.ContainsFunc(m.Args, func(a notation.Word) bool {
		if named := b.Symbols[a.Text]; named != nil && named.Kind == State {
			return named == state
		}
		return state.Unit != nil && state.Unit.Kind == notation.StructUnit
	})
}

// AllEquations are the equations of a block and, if a strategy computes it, those of its
// rule that only the tokens after the last whole chunk need.
func (b *Block) AllEquations() []*Equation {
	all := slices.Clone(b.Eqs)
	if b.Strategy == nil {
		return all
	}
	for _, eq := range b.Strategy.Rule.Eqs {
		if b.Equation(eq.Name) == nil {
			all = append(all, eq)
		}
	}
	return all
}

// Called lists the functions that syntax nodes of a block call, and those that these call, under
// the options that it has: an arm of a case that is not chosen calls none.
func (b *Block) Called(from ...any) []*Function {
	var out []*Function
	var visit func(n any)
	visit = func(n any) {
		notation.Inspect(n, func(n any) bool {
			switch n := n.(type) {
			case *notation.Case:
				if arm := b.ChosenArm(n); arm != nil {
					visit(arm)
					return false
				}
			case *notation.Call:
				if f := b.Funcs[n.Fun.Text]; f != nil && f.Def != nil && !slices.Contains(out, f) {
					out = append(out, f)
					visit(f.Def)
				}
			}
			return true
		})
	}
	for _, n := range from {
		visit(n)
	}
	return out
}

// Uncalled lists the functions that neither an equation of a block nor a first value calls, under
// the options that it has.
func (b *Block) Uncalled() []*Function {
	var from []any
	for _, eq := range b.AllEquations() {
		from = append(from, eq.Expressions()...)
	}
	for _, s := range b.SymSeq {
		if s.Decl != nil && s.Decl.Init != nil {
			from = append(from, s.Decl.Init)
		}
	}
	called := b.Called(from...)
	return slices.DeleteFunc(slices.Collect(maps.Values(b.Funcs)), func(f *Function) bool { return slices.Contains(called, f) })
}

// CountAxis is the axis that counts the parts of a list, or nil.
func (b *Block) CountAxis(list string) *Axis {
	for _, p := range units.PartsOf(b.Unit) {
		if p.List != nil && p.Name.Text == list {
			return b.Axes[p.List.Text]
		}
	}
	return nil
}

// CountedList is the list of parts whose axis has this name, or "".
func (b *Block) CountedList(axis string) string {
	for _, p := range units.PartsOf(b.Unit) {
		if p.List != nil && p.List.Text == axis {
			return p.Name.Text
		}
	}
	return ""
}

// Members are the pages that are given for a list of parts.
func (b *Block) Members(list string) []*Subpart {
	return slices.DeleteFunc(slices.Clone(b.Parts), func(p *Subpart) bool { return p.List != list || p.Block == nil })
}

// LevelsOf is the line that makes the parts of a list levels, or nil.
func (b *Block) LevelsOf(list string) *Levels {
	for _, l := range b.Levels {
		if l.List == list {
			return l
		}
	}
	return nil
}

// PageName is the name of an option on the page that declares it.
func (o *Option) PageName() string {
	name := o.Name
	for !units.HasOption(o.Unit, name) {
		short, cut := strings.CutSuffix(name, "_"+o.Unit.Name.Text)
		if !cut {
			break
		}
		name = short
	}
	return name
}

// inputCount is the number of inputs that the callers of a unit pass.
var inputCount = map[notation.UnitKind]int{notation.RuleUnit: 1, notation.ComposeUnit: 1, notation.ModelUnit: 2}

// CheckInputs refuses inputs that no caller of an emitted unit passes.
func (b *Block) CheckInputs() (ds diag.List) {
	n := 0
	for _, s := range b.SymSeq {
		if s.Kind != Input {
			continue
		}
		most, limited := inputCount[b.Unit.Kind]
		if n++; !limited || n <= most {
			continue
		}
		d := ds.Errorf(diag.NotSupported, s.Span, "%s has more than %s", b.Unit.Name.Text, [...]string{1: "one input", 2: "two inputs"}[most])
		if most == 1 {
			d.Hint("a rule or a composition reads one sequence of tokens: make %s a part of each token, or compute it with an equation", s.Name)
		} else {
			d.Hint("a model reads the ids of its tokens and those of the next ones")
		}
	}
	return ds
}
