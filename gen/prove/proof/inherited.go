package proof

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/units"
)

// Inherited statements. A claim, kink, invariant or cost is stated of the page that it is
// written on, with the values that the options have there; after `when c:`, of every value
// that satisfies c. A unit may use another page with other options, or with names replaced.
// Then a line of that page that still holds is listed with the unit, and a line that does
// not is no error of the unit: its verdict is where it was written. What a page provides or
// declares holds for all values.

// ProveLine proves a line of a page, under its condition if it has one. Where the line is
// another page's, states something of that page alone and fails, ok is false, there is no
// message, and the items say where the line holds.
func (p *Context) ProveLine(at source.Span, when notation.Expr, prove func()) (ok bool) {
	owner := p.pageOf(at)
	if owner == nil || owner == p.Unit {
		prove()
		return true
	}
	other := p.OtherPage(at, when)
	before, items := p.Diags, len(p.Report.Items)
	p.Diags = diag.List{}
	prove()
	failed := p.Diags.HasErrors()
	switch {
	case failed && other != nil:
		for i := range p.Report.Items[items:] {
			p.Report.Items[items+i].Evidence = HoldsOnlyFor(other)
		}
		p.Diags = before
		return false
	case failed && when != nil:
		for _, d := range p.Diags.Sorted() {
			d.See(p.Unit.Name.Span, "in %s, whose options satisfy the condition", p.Unit.Name.Text)
			before.Add(d)
		}
	default:
		before.Append(p.Diags)
	}
	p.Diags = before
	return true
}

// OtherPage is the page of a line, where the unit uses that page with other options than
// its own; else nil.
func (p *Context) OtherPage(at source.Span, when notation.Expr) *notation.Unit {
	if owner := p.pageOf(at); owner != nil && owner != p.Unit && when == nil && p.reconfigures(owner) {
		return owner
	}
	return nil
}

// HoldsOnlyFor is the evidence of a line that another page states of itself.
func HoldsOnlyFor(owner *notation.Unit) Evidence {
	return Evidence{Verdict: Declared, Elsewhere: true, Note: "said of " + owner.Name.Text + " as its page configures it, and does not hold here"}
}

// pageOf is the unit that a line belongs to.
func (p *Context) pageOf(at source.Span) *notation.Unit {
	for _, u := range p.Tree.Order {
		if slices.ContainsFunc(u.Body, func(st notation.Stmt) bool { return st.Where() == at }) {
			return u
		}
	}
	return nil
}

// reconfigures reports whether the unit uses a page with another value of an option, or with
// a name replaced.
func (p *Context) reconfigures(owner *notation.Unit) bool {
	for _, o := range p.Block.Options {
		if o.Unit == owner && o.Decl.Init != nil && !notation.Equal(o.Value, o.Decl.Init) {
			return true
		}
	}
	for u := p.Unit; u != nil && u != owner; u = instanceOf(p.Tree, u) {
		base := instanceOf(p.Tree, u)
		if base != nil && (len(u.With) > 0 || p.setsFront(u)) || (base != nil || owner.Kind == notation.FrontUnit) && redefines(u) {
			return true
		}
	}
	return false
}

// setsFront reports whether an instance of a rule sets an option of the rule's front.
func (p *Context) setsFront(u *notation.Unit) bool {
	return slices.ContainsFunc(u.Formula.Parts[0].Args, func(a *notation.Override) bool {
		o := p.Block.Options[a.Name.Text]
		return o != nil && o.Unit != nil && o.Unit.Kind == notation.FrontUnit
	})
}

// redefines reports whether a unit has a line that may redefine a name of another page.
func redefines(u *notation.Unit) bool {
	return slices.ContainsFunc(u.Body, func(st notation.Stmt) bool {
		d, ok := st.(*notation.Declare)
		return ok && slices.ContainsFunc(d.Names, func(n *notation.DeclName) bool { return check.Redefines(d.Keyword.Text, n) })
	})
}

// instanceOf is the unit that a unit is an instance of: B in `rule A = B(p = 3)`.
func instanceOf(tree *units.Tree, u *notation.Unit) *notation.Unit {
	if f := u.Formula; f != nil && len(f.Parts) == 1 {
		if b := tree.Units[f.Parts[0].Name.Text]; b != nil && b.Kind == u.Kind {
			return b
		}
	}
	return nil
}
