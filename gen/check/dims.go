package check

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// The axes of a block come from the dims lines of all its pages. A sized or
// aliased axis wins over a free one of the same name, so that a rule's dims
// reach into its front. What a front says of an axis is a default: any other
// page that declares it decides. What a front says under a `when` follows from
// an option and is no default: another page may leave the axis free, or say the
// same, and nothing else.

// dims gathers the axes of the block.
func (in *instancer) dims() {
	in.gatherSizes()
	in.axis(&Axis{Name: "L", Size: shape.Sym("L"), Free: true})
	in.axis(&Axis{Name: "T", Size: shape.Sym("T"), Free: true})
	in.listAxes()
	sized := map[string]*notation.DimsItem{}
	for _, it := range in.sizes {
		if isSized(it) {
			sized[it.Name.Text] = it
		}
	}
	for _, it := range in.sizes {
		if !in.ownAxis(it) {
			continue
		}
		a := in.addAxis(it, sized, 0)
		if s := sized[it.Name.Text]; s == it && s.Size != nil && a.Name == it.Name.Text {
			in.leastSize(it, a)
		}
	}
}

// gatherSizes lists what counts of the dims lines: those whose condition holds,
// without the defaults that another line replaces.
func (in *instancer) gatherSizes() {
	var defaults, decided, items []*notation.DimsItem
	when := map[*notation.DimsItem]notation.Expr{}
	for _, s := range in.srcs {
		for _, st := range s.Body {
			d, ok := st.(*notation.Dims)
			switch {
			case !ok || d.When != nil && !in.holds(d.When):
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
		in.oneSize(it, when[it], items)
	}
	in.sizes = slices.Concat(defaults, decided, items)
}

func isSized(it *notation.DimsItem) bool { return it.Size != nil || len(it.Factors) > 0 }

// oneSize refuses another size for an axis whose size follows from an option.
// The place is where a formula sets the option, if one does.
func (in *instancer) oneSize(d *notation.DimsItem, when notation.Expr, items []*notation.DimsItem) {
	for _, it := range items {
		if it.Name.Text != d.Name.Text || !isSized(it) || !isSized(d) {
			continue
		}
		if notation.Equal(it.Size, d.Size) && slices.EqualFunc(it.Factors, d.Factors, sameWord) {
			continue
		}
		at := it.Span
		if o := in.setOf(when); o != nil {
			at = o.Span
		}
		in.ds.Errorf(diag.ShapeMismatch, at, "%s gives %s a size that is not the one of this rule", notation.Print(when, notation.Unicode), it.Name.Text).
			See(d.Span, "what follows from the option").See(it.Span, "what the rule says").
			Hint("choose another value of the option, or leave the size of %s to the front", it.Name.Text)
	}
}

// setOf is the place where a formula sets an option that a condition reads.
func (in *instancer) setOf(when notation.Expr) (found *notation.Override) {
	notation.Inspect(when, func(n any) bool {
		if id, ok := n.(*notation.Ident); ok {
			for _, s := range in.srcs {
				for _, o := range s.Set {
					if o.Name.Text == id.Name.Text {
						found = o
					}
				}
			}
		}
		return true
	})
	return found
}

func sameWord(a, b notation.Word) bool { return a.Text == b.Text }

func (in *instancer) axis(a *Axis) *Axis {
	in.b.Axes[a.Name] = a
	in.b.AxisSeq = append(in.b.AxisSeq, a)
	return a
}

func (in *instancer) addAxis(it *notation.DimsItem, sized map[string]*notation.DimsItem, depth int) *Axis {
	name := it.Name.Text
	if a := in.b.Axes[name]; a != nil {
		return a
	}
	if depth > 20 {
		in.ds.Errorf(diag.Cycle, it.Name.Span, "the size of %s is defined by itself", name)
		return in.axis(&Axis{Name: name, Size: shape.Sym(name), Free: true})
	}
	s := sized[name]
	switch {
	case s == nil:
		return in.axis(&Axis{Name: name, Size: shape.Sym(name), Free: true})
	case len(s.Factors) > 0:
		a := &Axis{Name: name, Size: shape.Int(1)}
		for _, f := range s.Factors {
			g := in.axisNamed(&notation.Ident{Span: f.Span, Name: f}, sized, depth)
			if g == nil {
				g = in.axis(&Axis{Name: f.Text, Size: shape.Sym(f.Text), Free: true})
			}
			a.Size, a.Factors = a.Size.Mul(g.Size), append(a.Factors, f.Text)
		}
		return in.axis(a)
	}
	if id, ok := s.Size.(*notation.Ident); ok {
		if a := in.axisNamed(id, sized, depth); a != nil {
			in.b.Axes[name] = a
			return a
		}
	}
	size, ok := in.b.SizeOf(s.Size, func(id *notation.Ident) *Axis { return in.axisNamed(id, sized, depth) })
	if !ok {
		in.unknownAxis(s.Size)
		size = shape.Sym(name)
	}
	return in.axis(&Axis{Name: name, Size: size})
}

// axisNamed is the axis an identifier stands for, declared now if it comes
// later in the text.
func (in *instancer) axisNamed(id *notation.Ident, sized map[string]*notation.DimsItem, depth int) *Axis {
	if a := in.b.AxisOf(id.Name.Text); a != nil {
		return a
	}
	if it := sized[id.Name.Text]; it != nil {
		return in.addAxis(it, sized, depth+1)
	}
	for _, it := range in.sizes {
		if it.Name.Text == id.Name.Text {
			return in.addAxis(it, sized, depth+1)
		}
	}
	return nil
}

func (in *instancer) unknownAxis(e notation.Expr) {
	var names []string
	for n := range in.b.Axes {
		names = append(names, n)
	}
	d := in.ds.Errorf(diag.UnknownAxis, e.Where(), "%s is not a size", notation.Print(e, notation.Unicode))
	if n := ident.Nearest(e.Where().Text(), names); n != "" {
		d.Hint("did you mean %s?", n)
	} else {
		d.Hint("%s", SizeHint(e))
	}
}
