package proof

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

// ProveLine settles a line with its condition, if it has one. Where it is another
// page's and fails there is no message, and the items that it made say where it
// holds; ok is false then.
func (p *Context) ProveLine(at source.Span, when notation.Expr, settle func()) (ok bool) {
	owner := p.ownerOf(at)
	if owner == nil || owner == p.Unit {
		settle()
		return true
	}
	other := p.OtherPage(at, when)
	before, items := p.Diags, len(p.Report.Items)
	p.Diags = diag.List{}
	settle()
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

// OtherPage is the page that a line speaks of, where the unit that is proved takes
// that page otherwise than it is written; else nil.
func (p *Context) OtherPage(at source.Span, when notation.Expr) *notation.Unit {
	if owner := p.ownerOf(at); owner != nil && owner != p.Unit && when == nil && p.changed(owner) {
		return owner
	}
	return nil
}

// HoldsOnlyFor is the evidence for a line that another page states of itself.
func HoldsOnlyFor(owner *notation.Unit) Evidence {
	return Evidence{Verdict: Declared, Elsewhere: true, Note: "said of " + owner.Name.Text + " as its page configures it, and does not hold here"}
}

// ownerOf is the unit on whose page a line stands.
func (p *Context) ownerOf(at source.Span) *notation.Unit {
	for _, u := range p.Tree.Order {
		if slices.ContainsFunc(u.Body, func(st notation.Stmt) bool { return st.Where() == at }) {
			return u
		}
	}
	return nil
}

// changed reports whether the unit that is proved takes a page otherwise than the
// page configures itself: an option has another value, or a name is replaced.
func (p *Context) changed(owner *notation.Unit) bool {
	for _, o := range p.Block.Options {
		if o.Unit == owner && o.Decl.Init != nil && !notation.Equal(o.Value, o.Decl.Init) {
			return true
		}
	}
	for u := p.Unit; u != nil && u != owner; u = baseOf(p.Tree, u) {
		base := baseOf(p.Tree, u)
		if base != nil && (len(u.With) > 0 || p.setsFront(u)) || (base != nil || owner.Kind == notation.FrontUnit) && redefines(u) {
			return true
		}
	}
	return false
}

// setsFront reports whether a form of a rule sets an option of the rule's front.
func (p *Context) setsFront(u *notation.Unit) bool {
	return slices.ContainsFunc(u.Formula.Parts[0].Args, func(a *notation.Override) bool {
		o := p.Block.Options[a.Name.Text]
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
