package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// define adds an equation or, when the target has parameters, a function.
func (r *resolver) define(u *notation.Unit, d *notation.Define) {
	text := d.Target.Name.Name.Text
	if d.Match {
		r.checkMatch(u, d)
		return
	}
	if d.InLog {
		r.notYet(d.Span, "in log")
		return
	}
	if _, solve := d.Value.(*notation.Solve); solve && u.Kind == notation.UpdateUnit {
		r.ds.Errorf(diag.NotHere, d.Target.Span, "an update cannot solve for %s", text).Hint("an update is written in closed form; only operations, rules and compositions solve")
		return
	}
	if d.Target.IsFunc {
		if old := r.b.Funcs[text]; old != nil && old.Block != nil {
			r.ds.Errorf(diag.DuplicateName, d.Target.Span, "%s is defined twice", text).See(old.Def.Target.Span, "first defined here")
			return
		}
		r.b.Funcs[text] = &Function{Name: text, Params: d.Target.Params, Def: d, Unit: u, Block: r.b}
		return
	}
	r.equation(u, d.Target.Name.Name, d.Target.Span, &Equation{Def: d})
}

// equation adds an equation of a name, which may have a time suffix.
func (r *resolver) equation(u *notation.Unit, word notation.Word, span notation.Span, e *Equation) {
	text := word.Text
	name, timed := text, false
	if r.b.Time != "" {
		name, timed = strings.CutSuffix(text, "_"+r.b.Time)
	}
	if r.b.Replaced[name] != nil {
		return
	}
	r.dropReplaced(u, name)
	sym := r.b.Symbols[name]
	switch {
	case sym == nil:
		r.symbol(&Symbol{Name: name, Kind: Defined, Span: span, Unit: u})
	case sym.Kind == State && !r.defined(name):
	case sym.Kind == State || sym.Kind == Defined:
		old := *sym
		if i := slices.IndexFunc(r.defs, func(e *Equation) bool { return e.Name == name }); sym.Kind == State && i >= 0 {
			old.Span = r.defs[i].Span()
		}
		r.duplicate(span, name, "defined", &old, u)
		return
	default:
		r.ds.Errorf(diag.DuplicateName, span, "%s is an %s and cannot be defined", name, sym.Kind).See(sym.Span, "declared here")
		return
	}
	e.Name, e.ID, e.Timed, e.Unit = name, r.b.ID+"."+ident.ASCII(name), timed, u
	if e.Def != nil && e.Def.Label != nil {
		e.ID = r.b.ID + "." + e.Def.Label.Text
	}
	r.defs = append(r.defs, e)
}

func (r *resolver) defined(name string) bool {
	for _, e := range r.defs {
		if e.Name == name {
			return true
		}
	}
	return false
}

// override applies `with name := expr`: the equation of the name is dropped.
func (r *resolver) override(with []*notation.Override) {
	for _, o := range with {
		name := o.Name.Text
		if r.b.Options[name] != nil {
			continue
		}
		sym := r.b.Symbols[name]
		if sym == nil {
			names := slices.Collect(maps.Keys(r.b.Symbols))
			d := r.ds.Errorf(diag.UnknownName, o.Name.Span, "there is nothing named %s to replace", name)
			units.Suggest(d, name, names)
			r.hintOwners(d, name)
			continue
		}
		if sym.Kind != Input && r.b.mentions(o.Value, name) {
			r.ds.Errorf(diag.Cycle, o.Span, "%s would be made of itself", name).See(sym.Span, "what it is").
				Hint("only an input can be read by its own replacement")
			continue
		}
		r.b.Replaced[name] = o.Value
		for i, e := range r.defs {
			if e.Name == name {
				r.defs = append(r.defs[:i:i], r.defs[i+1:]...)
				break
			}
		}
	}
}

// dropReplaced drops the rule's equation of a name that the strategy defines.
func (r *resolver) dropReplaced(u *notation.Unit, name string) {
	if s := r.b.Strategy; s == nil || u != s.Unit {
		return
	}
	r.defs = slices.DeleteFunc(r.defs, func(e *Equation) bool { return e.Name == name && e.Unit != u })
	if sym := r.b.Symbols[name]; sym != nil && sym.Kind == Defined {
		delete(r.b.Symbols, name)
		r.b.SymSeq = slices.DeleteFunc(r.b.SymSeq, func(s *Symbol) bool { return s == sym })
	}
}
