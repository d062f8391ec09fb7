package check

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
	"github.com/nl-hecate/hecate/gen/units"
)

// The axes of a block come from the dims lines of all its pages. A sized or aliased axis
// has precedence over a free one of the same name, so that a rule's dims reach into its
// front. The size that a front gives an axis is a default: any other page that declares the
// axis decides. A size under a `when` in a front follows from an option and is not a
// default: another page may leave the axis free or give the same size, but no other.

// dims gathers the axes of the block.
func (r *resolver) dims() {
	r.gatherSizes()
	r.axis(&Axis{Name: "L", Size: shape.Sym("L"), Free: true})
	r.axis(&Axis{Name: "T", Size: shape.Sym("T"), Free: true})
	r.listAxes()
	sized := map[string]*notation.DimsItem{}
	for _, it := range r.dimsItems {
		if isSized(it) {
			sized[it.Name.Text] = it
		}
	}
	for _, it := range r.dimsItems {
		if !r.checkDeclarable(it) {
			continue
		}
		a := r.addAxis(it, sized, 0)
		if s := sized[it.Name.Text]; s == it && s.Size != nil && a.Name == it.Name.Text {
			r.checkNonempty(it, a)
		}
	}
}

// gatherSizes lists the items of the dims lines whose condition holds, without defaults
// that another line replaces.
func (r *resolver) gatherSizes() {
	var defaults, decided, items []*notation.DimsItem
	when := map[*notation.DimsItem]notation.Expr{}
	for _, s := range r.srcs {
		for _, st := range s.Body {
			d, ok := st.(*notation.Dims)
			switch {
			case !ok || d.When != nil && !r.holds(d.When):
			case s.Unit.Kind != notation.FrontUnit:
				items = append(items, d.Items...)
			case d.When != nil:
				decided = append(decided, d.Items...)
				for _, it := range d.Items {
					when[it] = d.When
				}
			default:
				defaults = append(defaults, d.Items...)
			}
		}
	}
	replaced := map[string]bool{}
	for _, it := range append(slices.Clone(items), decided...) {
		replaced[it.Name.Text] = true
	}
	defaults = slices.DeleteFunc(defaults, func(it *notation.DimsItem) bool { return replaced[it.Name.Text] })
	for _, it := range decided {
		r.checkSameSize(it, when[it], items)
	}
	r.dimsItems = slices.Concat(defaults, decided, items)
}

func isSized(it *notation.DimsItem) bool { return it.Size != nil || len(it.Factors) > 0 }

// checkSameSize refuses another size for an axis whose size follows from an option. It
// reports the place where a formula sets the option, if one does.
func (r *resolver) checkSameSize(d *notation.DimsItem, when notation.Expr, items []*notation.DimsItem) {
	for _, it := range items {
		if it.Name.Text != d.Name.Text || !isSized(it) || !isSized(d) {
			continue
		}
		if notation.Equal(it.Size, d.Size) && slices.EqualFunc(it.Factors, d.Factors, sameWord) {
			continue
		}
		at := it.Span
		if o := r.overrideOf(when); o != nil {
			at = o.Span
		}
		r.ds.Errorf(diag.ShapeMismatch, at, "%s gives %s a size that is not the one of this rule", notation.Print(when, notation.Unicode), it.Name.Text).
			See(d.Span, "what follows from the option").See(it.Span, "what the rule says").
			Hint("choose another value of the option, or leave the size of %s to the front", it.Name.Text)
	}
}

// overrideOf is the setting of an option that a condition reads, or nil.
func (r *resolver) overrideOf(when notation.Expr) (found *notation.Override) {
	for id := range notation.Idents(when) {
		for _, s := range r.srcs {
			for _, o := range s.Set {
				if o.Name.Text == id.Name.Text {
					found = o
				}
			}
		}
	}
	return found
}

func sameWord(a, b notation.Word) bool { return a.Text == b.Text }

func (r *resolver) axis(a *Axis) *Axis {
	r.b.Axes[a.Name] = a
	r.b.AxisSeq = append(r.b.AxisSeq, a)
	return a
}

func (r *resolver) addAxis(it *notation.DimsItem, sized map[string]*notation.DimsItem, depth int) *Axis {
	name := it.Name.Text
	if a := r.b.Axes[name]; a != nil {
		return a
	}
	if depth > 20 {
		r.ds.Errorf(diag.Cycle, it.Name.Span, "the size of %s is defined by itself", name)
		return r.axis(&Axis{Name: name, Size: shape.Sym(name), Free: true})
	}
	s := sized[name]
	switch {
	case s == nil:
		return r.axis(&Axis{Name: name, Size: shape.Sym(name), Free: true})
	case len(s.Factors) > 0:
		a := &Axis{Name: name, Size: shape.Int(1)}
		for _, f := range s.Factors {
			g := r.axisNamed(&notation.Ident{Span: f.Span, Name: f}, sized, depth)
			if g == nil {
				g = r.axis(&Axis{Name: f.Text, Size: shape.Sym(f.Text), Free: true})
			}
			a.Size, a.Factors = a.Size.Mul(g.Size), append(a.Factors, f.Text)
		}
		return r.axis(a)
	}
	if id, ok := s.Size.(*notation.Ident); ok {
		if a := r.axisNamed(id, sized, depth); a != nil {
			r.b.Axes[name] = a
			return a
		}
	}
	size, ok := r.b.SizeOf(s.Size, func(id *notation.Ident) *Axis { return r.axisNamed(id, sized, depth) })
	if !ok {
		r.unknownAxis(s.Size)
		size = shape.Sym(name)
	}
	return r.axis(&Axis{Name: name, Size: size})
}

// axisNamed is the axis of an identifier, declared now if its line comes later.
func (r *resolver) axisNamed(id *notation.Ident, sized map[string]*notation.DimsItem, depth int) *Axis {
	if a := r.b.AxisOf(id.Name.Text); a != nil {
		return a
	}
	if it := sized[id.Name.Text]; it != nil {
		return r.addAxis(it, sized, depth+1)
	}
	for _, it := range r.dimsItems {
		if it.Name.Text == id.Name.Text {
			return r.addAxis(it, sized, depth+1)
		}
	}
	return nil
}

func (r *resolver) unknownAxis(e notation.Expr) {
	names := slices.Collect(maps.Keys(r.b.Axes))
	d := r.ds.Errorf(diag.UnknownAxis, e.Where(), "%s is not a size", notation.Print(e, notation.Unicode))
	if n := ident.Nearest(e.Where().Text(), names); n != "" {
		d.Hint("did you mean %s?", n)
	} else {
		d.Hint("%s", SizeHint(e))
	}
}

// listAxes declares the axes that count the parts of lists.
func (r *resolver) listAxes() {
	for _, p := range units.PartsOf(r.b.Unit) {
		if p.List == nil {
			continue
		}
		if old := r.b.Axes[p.List.Text]; old != nil {
			r.ds.Errorf(diag.DuplicateName, p.List.Span, "the axis %s is there already, and the parts of %s decide its size", p.List.Text, p.Name.Text)
			continue
		}
		r.axis(&Axis{Name: p.List.Text, Size: shape.Sym(p.List.Text), Free: true})
	}
}

// checkNonempty refuses an axis without entries. A constructor checks the sizes that it is
// given.
func (r *resolver) checkNonempty(it *notation.DimsItem, a *Axis) {
	if n, ok := a.Size.Const(); ok && n < 1 && !a.Free {
		r.ds.Errorf(diag.UnknownAxis, it.Size.Where(), "%s is not a size", notation.Print(it.Size, notation.Unicode)).
			Labelf("an axis has at least one entry").See(it.Name.Span, "the axis")
	}
}

// givenAxes are the axes of every block, which no page declares.
var givenAxes = map[string]string{"T": "the tokens of a call", "L": "the batch of a call"}

// checkDeclarable refuses a dims line for an axis that already exists.
func (r *resolver) checkDeclarable(it *notation.DimsItem) bool {
	what := givenAxes[it.Name.Text]
	if what != "" {
		r.ds.Errorf(diag.DuplicateName, it.Name.Span, "%s is the axis of %s and always there", it.Name.Text, what).
			Hint("give the axis another name")
	}
	for _, p := range units.PartsOf(r.b.Unit) {
		if p.List != nil && p.List.Text == it.Name.Text {
			r.ds.Errorf(diag.DuplicateName, it.Name.Span, "%s counts the parts of %s already", it.Name.Text, p.Name.Text).See(p.Span, "declared here").
				Hint("leave it out here")
			return false
		}
	}
	return what == ""
}

// checkAxisNames refuses names of values that are names of axes too: their meaning in an
// equation would depend on the order of lookup. Axes that the header of the unit introduces
// count too.
func (r *resolver) checkAxisNames() {
	for _, s := range r.srcs {
		mine := Signature(s.Unit.Params)
		for d := range notation.Of[*notation.Dims](s.Body) {
			for _, it := range d.Items {
				mine[it.Name.Text] = true
				for _, f := range it.Factors {
					mine[f.Text] = true
				}
			}
		}
		for _, st := range s.Body {
			r.checkLocalNames(st, mine)
		}
		if s.Unit.Result != nil {
			r.checkLocalNames(s.Unit.Result, mine)
		}
	}
	for _, s := range r.b.SymSeq {
		r.checkNotAxis(notation.Word{Span: s.Span, Text: s.Name}, r.b.Axes[s.Name] != nil || s.Unit.Kind == notation.OpUnit && Signature(s.Unit.Params)[s.Name])
	}
}

// checkLocalNames checks the parameters, local definitions and indices of a statement.
func (r *resolver) checkLocalNames(st notation.Stmt, axes map[string]bool) {
	d, _ := st.(*notation.Define)
	if d != nil && d.Target.IsFunc {
		axes = signature(d.Target.Params, axes)
		for _, p := range d.Target.Params {
			r.checkNotAxis(p.Name, axes[p.Name.Text])
		}
	}
	notation.Inspect(st, func(n any) bool {
		switch n := n.(type) {
		case *notation.Binder:
			r.checkNotAxis(n.Name, axes[n.Name.Text])
		case *notation.Define:
			if n != d {
				r.checkNotAxis(n.Target.Name.Name, axes[n.Target.Name.Name.Text])
			}
		}
		return true
	})
}

func (r *resolver) checkNotAxis(w notation.Word, is bool) {
	if is {
		r.ds.Errorf(diag.DuplicateName, w.Span, "%s is the name of an axis, and of something else here", w.Text).
			Hint("the name of an axis is its size; rename one of the two")
	}
}

// signature adds the axes that the types of parameters name.
func signature(ps []*notation.Param, axes map[string]bool) map[string]bool {
	out := map[string]bool{}
	for a := range axes {
		out[a] = true
	}
	for _, p := range ps {
		for id := range notation.Idents(p.Type) {
			out[id.Name.Text] = true
		}
	}
	return out
}

// Signature is the set of axes that the types of parameters name.
func Signature(ps []*notation.Param) map[string]bool { return signature(ps, nil) }
