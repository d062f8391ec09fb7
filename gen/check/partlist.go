package check

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
	"github.com/nl-hecate/hecate/gen/units"
)

// The parts of a block: what stands in the places that its header leaves open,
// one page in each, or a list of pages whose number is an axis of the block.

// parts instantiates what a formula puts into the places of parts.
func (in *instancer) parts() {
	for _, p := range units.PartsOf(in.b.Unit) {
		s := in.b.Symbols[p.Name.Text]
		if s == nil || s.Kind != Part {
			continue
		}
		list := ""
		if p.List != nil {
			list = s.Name
		}
		given := false
		for _, g := range in.given {
			if g.Part.Name.Text == s.Name {
				given = true
				sub := &Subpart{Name: g.Name(), List: list, Kind: s.Type.Page.Text, Formula: g.Apply}
				sub.Block = in.subpart(sub, g.Apply)
				in.b.Parts = append(in.b.Parts, sub)
			}
		}
		if !given {
			in.b.Parts = append(in.b.Parts, &Subpart{Name: s.Name, List: list, Kind: s.Type.Page.Text})
		}
	}
}

// subpart instantiates one page in the place of a part. A schedule of rules
// stands where a rule does.
func (in *instancer) subpart(p *Subpart, a *notation.Apply) *Block {
	kinds := map[string][]notation.UnitKind{"Rule": {notation.RuleUnit}, "Composition": {notation.ComposeUnit},
		"Block": {notation.RuleUnit, notation.ComposeUnit}}[p.Kind]
	if u := in.tree.Units[a.Name.Text]; u != nil && in.tree.BasePage(u).Sched {
		kinds = append(slices.Clone(kinds), notation.ComposeUnit)
	}
	u := in.page(a, kinds...)
	if u == nil {
		return nil
	}
	b := instantiate(in.tree, u, u.Name.Text, a.Args, u.With, in.ds)
	in.compiled(u, a, b)
	return b
}

// compiled refuses an option of a part that is no size of the model: the part's page is
// compiled for itself, with the options that it says.
func (in *instancer) compiled(u *notation.Unit, a *notation.Apply, b *Block) {
	if b == nil || in.ds.HasErrors() {
		return
	}
	var quiet diag.List
	_, options := units.Bind(u, a.Args, &quiet)
	for _, o := range options {
		opt := b.Options[o.Name.Text]
		if opt == nil || notation.Equal(o.Value, opt.Decl.Init) {
			continue
		}
		size := b.AxisOf(o.Name.Text)
		if size != nil && size.Free && (size != b.Heads || instantiate(in.tree, u, u.Name.Text, nil, u.With, &quiet).Heads != nil) {
			continue
		}
		d := in.ds.Errorf(diag.BadOption, o.Span, "%s is compiled for itself: a formula sets the sizes of its parts, and %s is none", u.Name.Text, o.Name.Text).
			See(opt.Decl.Span, "the option is declared here")
		if u.Kind == notation.RuleUnit {
			d.Hint("write a rule, rule Mine = %s(%s), and Mine here", u.Name.Text, o.Name.Text+" = "+notation.Print(o.Value, notation.Unicode))
		}
	}
}

// bind takes what a formula gives one of the block's pages: the parts are kept
// for later, the options come back. A formula that gives a part gives all.
func (in *instancer) bind(u *notation.Unit, args []*notation.Override, at *notation.Apply) []*notation.Override {
	before := in.ds.Len()
	given, options := units.Bind(u, args, in.ds)
	if in.ds.Len() > before {
		in.refused = true
		return nil
	}
	in.given = append(in.given, given...)
	if len(given) == 0 && at == nil {
		return options
	}
	var missing []*notation.Param
	for _, p := range units.PartsOf(u) {
		if !slices.ContainsFunc(given, func(g units.Given) bool { return g.Part == p }) {
			missing = append(missing, p)
		}
	}
	if len(missing) > 0 {
		word := map[bool]string{false: "part %s of %s is not given", true: "parts %s of %s are not given"}[len(missing) > 1]
		span := u.Name.Span
		if at != nil {
			span = at.Span
		} else if len(args) > 0 {
			span = args[0].Span.To(args[len(args)-1].Span)
		}
		in.ds.Errorf(diag.BadPart, span, word, strings.Join(units.PartNames(missing), ", "), u.Name.Text).See(missing[0].Name.Span, "declared here")
		in.refused = true
	}
	return options
}

// listAxes declares the axes that count the parts of lists.
func (in *instancer) listAxes() {
	for _, p := range units.PartsOf(in.b.Unit) {
		if p.List == nil {
			continue
		}
		if old := in.b.Axes[p.List.Text]; old != nil {
			in.ds.Errorf(diag.DuplicateName, p.List.Span, "the axis %s is there already, and the parts of %s decide its size", p.List.Text, p.Name.Text)
			continue
		}
		in.axis(&Axis{Name: p.List.Text, Size: shape.Sym(p.List.Text), Free: true})
	}
}

// CountAxis is the axis that counts the parts of a list, and the list.
func (b *Block) CountAxis(list string) *Axis {
	for _, p := range units.PartsOf(b.Unit) {
		if p.List != nil && p.Name.Text == list {
			return b.Axes[p.List.Text]
		}
	}
	return nil
}

// CountedList is the list of parts whose axis has a name, or "".
func (b *Block) CountedList(axis string) string {
	for _, p := range units.PartsOf(b.Unit) {
		if p.List != nil && p.List.Text == axis {
			return p.Name.Text
		}
	}
	return ""
}

// Members are the pages of a list of parts, none where none are given.
func (b *Block) Members(list string) []*Subpart {
	return slices.DeleteFunc(slices.Clone(b.Parts), func(p *Subpart) bool { return p.List != list || p.Block == nil })
}

// LevelsOf is what makes the parts of a list levels, or nil.
func (b *Block) LevelsOf(list string) *Levels {
	for _, l := range b.Levels {
		if l.List == list {
			return l
		}
	}
	return nil
}

// level reads level l∈K : memory[l], period [1, 8] when a[l] = 1.
func (in *instancer) level(u *notation.Unit, s *notation.Level) {
	if u.Kind != notation.ComposeUnit || u != in.b.Unit {
		in.ds.Errorf(diag.NotHere, s.Span, "levels stand in schedules and compositions alone, and %s is %s", u.Name.Text, units.KindName(u.Kind))
		return
	}
	l := &Levels{Span: s.Span}
	at, ok := s.Rule.(*notation.Index)
	if ok {
		if id, isName := at.X.(*notation.Ident); isName && in.b.CountedList(in.rangeName(s.Binder)) == id.Name.Text && in.indexed(at.At, s.Binder) {
			l.List = id.Name.Text
		}
	}
	if l.List == "" {
		in.ds.Errorf(diag.NotSupported, s.Span, "a level names the parts of a list").Hint("write level l∈K : memory[l], with memory[K] : Rule in the header")
		return
	}
	if s.Period != nil && !in.periods(l, s.Period) || s.When != nil && !in.gate(l, s) {
		return
	}
	for _, old := range in.b.Levels {
		if old.List == l.List {
			in.ds.Errorf(diag.DuplicateName, s.Span, "%s has its levels twice", l.List).See(old.Span, "first here")
			return
		}
	}
	in.b.Levels = append(in.b.Levels, l)
}

func (in *instancer) rangeName(b *notation.Binder) string {
	if id, ok := b.Range.(*notation.Ident); ok {
		return id.Name.Text
	}
	return ""
}

// indexed reports whether an index is the bound one and nothing else.
func (in *instancer) indexed(at []notation.Expr, b *notation.Binder) bool {
	if len(at) != 1 {
		return false
	}
	id, ok := at[0].(*notation.Ident)
	return ok && id.Name.Text == b.Name.Text
}

// periods reads the periods that a page proposes: whole numbers, the first one,
// each a multiple of the one before.
func (in *instancer) periods(l *Levels, x notation.Expr) bool {
	list, ok := x.(*notation.List)
	if !ok {
		in.ds.Errorf(diag.NotSupported, x.Where(), "periods are a list of numbers").Hint("write period [1, 8, 64, 512]")
		return false
	}
	last := 1
	for i, it := range list.Items {
		n, ok := notation.Constant(it)
		if !ok || n != float64(int(n)) || n < 1 || i == 0 && n != 1 || int(n)%last != 0 {
			in.ds.Errorf(diag.NotSupported, it.Where(), "a period is a whole multiple of the one before, and the first is 1")
			return false
		}
		last = int(n)
		l.Periods = append(l.Periods, last)
	}
	return true
}

// gate reads when a[l] = 1.
func (in *instancer) gate(l *Levels, s *notation.Level) bool {
	if r, ok := s.When.(*notation.Relation); ok && r.Op == "=" {
		at, isIndex := r.X.(*notation.Index)
		one, isNumber := notation.Constant(r.Y)
		if isIndex && isNumber && one == 1 && in.indexed(at.At, s.Binder) {
			if id, ok := at.X.(*notation.Ident); ok {
				l.Gate = id.Name.Text
				return true
			}
		}
	}
	in.ds.Errorf(diag.NotSupported, s.When.Where(), "a level is open where a value of the page is 1").Hint("write when a[l] = 1")
	return false
}
