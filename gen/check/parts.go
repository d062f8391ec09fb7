package check

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// The parts of a block: one page for each part of its header, or a list of pages whose
// number is an axis of the block. The parts of a list may be levels: frequency levels, which
// are updated at multiples of a period and read frozen otherwise.

// bind splits the arguments of a page in a formula: the parts are kept for later, the
// options are returned. A formula that gives one part gives all.
func (r *resolver) bind(u *notation.Unit, args []*notation.Override, at *notation.Apply) []*notation.Override {
	before := r.ds.Len()
	given, options := units.Bind(u, args, r.ds)
	if r.ds.Len() > before {
		r.badArguments = true
		return nil
	}
	r.given = append(r.given, given...)
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
		r.ds.Errorf(diag.BadPart, span, word, strings.Join(units.PartNames(missing), ", "), u.Name.Text).See(missing[0].Name.Span, "declared here")
		r.badArguments = true
	}
	return options
}

// parts instantiates the pages that a formula gives for parts.
func (r *resolver) parts() {
	for _, p := range units.PartsOf(r.b.Unit) {
		s := r.b.Symbols[p.Name.Text]
		if s == nil || s.Kind != Part {
			continue
		}
		list := ""
		if p.List != nil {
			list = s.Name
		}
		given := false
		for _, g := range r.given {
			if g.Part.Name.Text == s.Name {
				given = true
				sub := &Subpart{Name: g.Name(), List: list, Kind: s.Type.Page.Text, Formula: g.Apply}
				sub.Block = r.subpart(sub, g.Apply)
				r.b.Parts = append(r.b.Parts, sub)
			}
		}
		if !given {
			r.b.Parts = append(r.b.Parts, &Subpart{Name: s.Name, List: list, Kind: s.Type.Page.Text})
		}
	}
}

// subpart instantiates one page for a part. A schedule of rules may be a rule.
func (r *resolver) subpart(p *Subpart, a *notation.Apply) *Block {
	kinds := map[string][]notation.UnitKind{"Rule": {notation.RuleUnit}, "Composition": {notation.ComposeUnit},
		"Block": {notation.RuleUnit, notation.ComposeUnit}}[p.Kind]
	if u := r.tree.Units[a.Name.Text]; u != nil && r.tree.BasePage(u).Sched {
		kinds = append(slices.Clone(kinds), notation.ComposeUnit)
	}
	u := r.page(a, kinds...)
	if u == nil {
		return nil
	}
	b := instantiate(r.tree, u, u.Name.Text, a.Args, u.With, r.ds)
	r.checkPartOptions(u, a, b)
	return b
}

// checkPartOptions refuses an option, of a part or of a page that is given its parts, that is not
// a size of the model: each page is compiled separately, with its own options.
func (r *resolver) checkPartOptions(u *notation.Unit, a *notation.Apply, b *Block) {
	if b == nil || r.ds.HasErrors() {
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
		if size != nil && size.Free && (size != b.Heads || instantiate(r.tree, u, u.Name.Text, nil, u.With, &quiet).Heads != nil) {
			continue
		}
		d := r.ds.Errorf(diag.BadOption, o.Span, "%s is compiled separately: a formula sets sizes, and %s is not a size", u.Name.Text, o.Name.Text).
			See(opt.Decl.Span, "the option is declared here")
		if len(units.PartsOf(r.tree.BasePage(u))) == 0 {
			kind := map[bool]string{true: "rule", false: "compose"}[u.Kind == notation.RuleUnit]
			d.Hint("write %s Mine = %s(%s = %s), and Mine here", kind, u.Name.Text, o.Name.Text, notation.Print(o.Value, notation.Unicode))
		}
	}
}

// level reads a line such as `level l∈K : memory[l], period [1, 8] when a[l] = 1`.
func (r *resolver) level(u *notation.Unit, s *notation.Level) {
	if u.Kind != notation.ComposeUnit || u != r.b.Unit {
		r.ds.Errorf(diag.NotHere, s.Span, "only schedules and compositions have levels, and %s is %s", u.Name.Text, units.KindName(u.Kind))
		return
	}
	l := &Levels{Span: s.Span}
	at, ok := s.Rule.(*notation.Index)
	if ok {
		if id, isName := at.X.(*notation.Ident); isName && r.b.CountedList(r.rangeName(s.Binder)) == id.Name.Text && r.indexed(at.At, s.Binder) {
			l.List = id.Name.Text
		}
	}
	if l.List == "" {
		r.ds.Errorf(diag.NotSupported, s.Span, "a level names the parts of a list").Hint("write level l∈K : memory[l], with memory[K] : Rule in the header")
		return
	}
	if s.Period != nil && !r.periods(l, s.Period) || s.When != nil && !r.gate(l, s) {
		return
	}
	for _, old := range r.b.Levels {
		if old.List == l.List {
			r.ds.Errorf(diag.DuplicateName, s.Span, "%s has its levels twice", l.List).See(old.Span, "first here")
			return
		}
	}
	r.b.Levels = append(r.b.Levels, l)
}

func (r *resolver) rangeName(b *notation.Binder) string {
	if id, ok := b.Range.(*notation.Ident); ok {
		return id.Name.Text
	}
	return ""
}

// indexed reports whether an index is just the bound name.
func (r *resolver) indexed(at []notation.Expr, b *notation.Binder) bool {
	if len(at) != 1 {
		return false
	}
	id, ok := at[0].(*notation.Ident)
	return ok && id.Name.Text == b.Name.Text
}

// periods reads the default periods of levels: integers, the first of which is 1, each a
// multiple of the one before.
func (r *resolver) periods(l *Levels, x notation.Expr) bool {
	list, ok := x.(*notation.List)
	if !ok {
		r.ds.Errorf(diag.NotSupported, x.Where(), "periods are a list of numbers").Hint("write period [1, 8, 64, 512]")
		return false
	}
	last := 1
	for i, it := range list.Items {
		n, ok := notation.Constant(it)
		if !ok || n != float64(int(n)) || n < 1 || i == 0 && n != 1 || int(n)%last != 0 {
			r.ds.Errorf(diag.NotSupported, it.Where(), "a period is a whole multiple of the one before, and the first is 1")
			return false
		}
		last = int(n)
		l.Periods = append(l.Periods, last)
	}
	return true
}

// gate reads the condition `when a[l] = 1`.
func (r *resolver) gate(l *Levels, s *notation.Level) bool {
	if rel, ok := s.When.(*notation.Relation); ok && rel.Op == "=" {
		at, isIndex := rel.X.(*notation.Index)
		one, isNumber := notation.Constant(rel.Y)
		if isIndex && isNumber && one == 1 && r.indexed(at.At, s.Binder) {
			if id, ok := at.X.(*notation.Ident); ok {
				l.Gate = id.Name.Text
				return true
			}
		}
	}
	r.ds.Errorf(diag.NotSupported, s.When.Where(), "a level is open where a value of the page is 1").Hint("write when a[l] = 1")
	return false
}
