package prove

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/units"
)

// A claim, kink, invariant or cost speaks of the page that it stands on, with the
// values that the options have there; behind `when c :` it speaks of every value
// that satisfies c. So where a unit takes another page with other options, or
// with names replaced, a line of that page that still holds is listed with the
// unit, and one that does not is no error of the unit: its verdict is where it
// was written. What a page provides or declares holds for all values.

// line settles a line with its condition, if it has one. Where it is another
// page's and fails there is no message, and the items that it made say where it
// holds; ok is false then.
func (p *prover) line(at source.Span, when notation.Expr, settle func()) (ok bool) {
	owner := p.ownerOf(at)
	if owner == nil || owner == p.unit {
		settle()
		return true
	}
	other := p.otherwise(at, when)
	before, items := p.ds, len(p.rep.Items)
	p.ds = diag.List{}
	settle()
	failed := p.ds.HasErrors()
	switch {
	case failed && other != nil:
		for i := range p.rep.Items[items:] {
			p.rep.Items[items+i].Evidence = elsewhere(other)
		}
		p.ds = before
		return false
	case failed && when != nil:
		for _, d := range p.ds.Sorted() {
			d.See(p.unit.Name.Span, "in %s, whose options satisfy the condition", p.unit.Name.Text)
			before.Add(d)
		}
	default:
		before.Append(p.ds)
	}
	p.ds = before
	return true
}

// otherwise is the page that a line speaks of, where the unit that is proved takes
// that page otherwise than it is written; else nil.
func (p *prover) otherwise(at source.Span, when notation.Expr) *notation.Unit {
	if owner := p.ownerOf(at); owner != nil && owner != p.unit && when == nil && p.changed(owner) {
		return owner
	}
	return nil
}

// elsewhere is the evidence for a line that another page states of itself.
func elsewhere(owner *notation.Unit) Evidence {
	return Evidence{Verdict: Declared, Elsewhere: true, Note: "said of " + owner.Name.Text + " as its page configures it, and does not hold here"}
}

// ownerOf is the unit on whose page a line stands.
func (p *prover) ownerOf(at source.Span) *notation.Unit {
	for _, u := range p.tree.Order {
		if slices.ContainsFunc(u.Body, func(st notation.Stmt) bool { return st.Where() == at }) {
			return u
		}
	}
	return nil
}

// changed reports whether the unit that is proved takes a page otherwise than the
// page configures itself: an option has another value, or a name is replaced.
func (p *prover) changed(owner *notation.Unit) bool {
	for _, o := range p.blk.Options {
		if o.Unit == owner && o.Decl.Init != nil && !notation.Equal(o.Value, o.Decl.Init) {
			return true
		}
	}
	for u := p.unit; u != nil && u != owner; u = baseOf(p.tree, u) {
		base := baseOf(p.tree, u)
		if base != nil && (len(u.With) > 0 || p.setsFront(u)) || (base != nil || owner.Kind == notation.FrontUnit) && redefines(u) {
			return true
		}
	}
	return false
}

// setsFront reports whether a form of a rule sets an option of the rule's front.
func (p *prover) setsFront(u *notation.Unit) bool {
	return slices.ContainsFunc(u.Formula.Parts[0].Args, func(a *notation.Override) bool {
		o := p.blk.Options[a.Name.Text]
		return o != nil && o.Unit != nil && o.Unit.Kind == notation.FrontUnit
	})
}

// redefines reports whether a unit has a line that may say anew what another page says.
func redefines(u *notation.Unit) bool {
	return slices.ContainsFunc(u.Body, func(st notation.Stmt) bool {
		d, ok := st.(*notation.Declare)
		return ok && slices.ContainsFunc(d.Names, func(n *notation.DeclName) bool { return check.Redefines(d.Keyword.Text, n) })
	})
}

// baseOf is the page that a unit is another form of, as in `rule A = B(p = 3)`.
func baseOf(tree *units.Tree, u *notation.Unit) *notation.Unit {
	if f := u.Formula; f != nil && len(f.Parts) == 1 {
		if b := tree.Units[f.Parts[0].Name.Text]; b != nil && b.Kind == u.Kind {
			return b
		}
	}
	return nil
}
