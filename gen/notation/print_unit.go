package notation

import (
	"fmt"
)

func (p *printer) header(u *Unit) {
	if u.Kind == FuncUnit {
		p.put(u.Result)
		return
	}
	p.put(u.Keyword()+" ", u.Name)
	if u.Params != nil {
		p.params(u.Params)
	}
	switch {
	case u.Result != nil:
		p.put(" → ", u.Result)
		return
	case u.Formula != nil && len(u.Formula.Parts) == 0:
		p.put(" ", u.Formula)
	case u.Formula != nil:
		p.put(" = ", u.Formula)
	case u.For != nil:
		p.put(" for ", u.For)
	case u.Else != nil:
		p.put(" else ", u.Else)
	}
	p.overrides(u.With)
	p.clause("  ", u.Cite)
}

// Keyword is the word that opens the header.
func (u *Unit) Keyword() string {
	if u.Sched {
		return "schedule"
	}
	return u.Kind.String()
}

// String returns the keyword of the header.
func (k UnitKind) String() string {
	for w, u := range UnitKinds {
		if w == "schedule" {
			continue // a composition, by its keyword
		}
		if u == k {
			return w
		}
	}
	if k == FuncUnit {
		return "function"
	}
	return fmt.Sprintf("UnitKind(%d)", int(k))
}

func (p *printer) formula(f *Formula) {
	for i, a := range f.Parts {
		if i > 0 {
			p.put(" + ")
		}
		p.put(a)
	}
	if f.Over != nil && len(f.Parts) > 0 {
		p.put(" ")
	}
	p.clause("over ", f.Over)
}

func (p *printer) apply(a *Apply) {
	p.put(a.Name)
	if len(a.Args) == 0 {
		return
	}
	p.put("(")
	for i, o := range a.Args {
		if i > 0 {
			p.put(", ")
		}
		p.argument(o)
	}
	p.put(")")
}

func (p *printer) argument(o *Override) {
	named := o.Name.Text != ""
	if named {
		p.put(o.Name, " = ")
	}
	_, name := o.Value.(*Ident)
	_, call := o.Value.(*Call)
	switch {
	case o.List != nil:
		p.put("[")
		commas(p, o.List)
		p.put("]")
	case o.Value == nil:
		p.put(o.Apply)
		if named && len(o.Apply.Args) == 0 {
			p.put("()") // a page, not a value
		}
	case !named && (name || call):
		p.paren(o.Value) // a value, not a page
	default:
		p.put(sum(o.Value))
	}
}

func (p *printer) overrides(os []*Override) {
	for i, o := range os {
		p.put([]string{" with ", ", "}[min(i, 1)], o.Name, " := ", sum(o.Value))
	}
}

// params writes names that share a type as a run.
func (p *printer) params(ps []*Param) {
	p.put("(")
	for i, q := range ps {
		if i > 0 {
			sep := ", "
			for g := ps[i-1].Group; g < q.Group; g++ {
				sep = "; "
			}
			p.put(sep)
		}
		p.put(q.Name)
		if q.List != nil {
			p.put("[", *q.List, "]")
		}
		if i+1 < len(ps) && q.Type != nil && ps[i+1].Type == q.Type && ps[i+1].Group == q.Group {
			continue
		}
		p.paramTail(q.Type)
	}
	p.put(")")
}

// paramTail writes the type of a parameter, which is always named after ∈ or
// a colon: `a ∈ [0,∞)`, where a declaration has `a ≥ 0`.
func (p *printer) paramTail(t *Type) {
	if t != nil && oneSided(t) {
		p.put(" ∈ ")
		p.twoSided(t)
		return
	}
	p.typeTail(t)
}
