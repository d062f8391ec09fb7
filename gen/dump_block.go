package gen

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/notation"
)

// resolvedUnit is a block written as a unit: options with the values that hold, the axes
// and names that are used, and the equations in the order in which they are computed.
// It prints as notation, and what is printed can be parsed again.
func resolvedUnit(b *check.Block) *notation.Unit {
	u := &notation.Unit{Kind: b.Unit.Kind, Name: notation.Word{Text: b.Name}, Cite: b.Unit.Cite}
	u.Params = append(u.Params, b.Unit.Params...)
	u.Body = append(u.Body, resolvedOptions(b)...)
	if d := resolvedDims(b); len(d.Items) > 0 {
		u.Body = append(u.Body, d)
	}
	for _, s := range b.SymSeq {
		if d := declaration(b, s); d != nil {
			u.Body = append(u.Body, d)
		}
	}
	u.Body = append(u.Body, functions(b)...)
	u.Body = append(u.Body, replaced(b)...)
	for _, e := range b.Eqs {
		switch {
		case e.Gate != nil:
			u.Body = append(u.Body, &notation.Declare{Keyword: notation.Word{Text: "gate"}, Names: []*notation.DeclName{e.Gate}})
		case b.Unit.Kind == notation.OpUnit && e.Name == "out":
			u.Result = e.Def
		case e.Iter != nil:
			u.Body = append(u.Body, e.Iter)
		default:
			u.Body = append(u.Body, e.Def)
		}
	}
	for _, c := range b.Claims {
		u.Body = append(u.Body, c)
	}
	return u
}

// resolvedOptions keeps the declaration and take the value that the formula sets.
func resolvedOptions(b *check.Block) []notation.Stmt {
	var out []notation.Stmt
	seen := map[*notation.DeclName]bool{}
	byPlace := map[notation.Span]*check.Option{} // the law may have copied the line
	for _, o := range b.Options {
		byPlace[o.Decl.Span] = o
	}
	for _, u := range b.Tree.Order {
		for n := range notation.Declared(u.Body, "option") {
			if o := byPlace[n.Span]; o != nil && !seen[n] {
				seen[n] = true
				m := *o.Decl
				m.Init = o.Value
				out = append(out, &notation.Declare{Keyword: notation.Word{Text: "option"}, Names: []*notation.DeclName{&m}})
			}
		}
	}
	return out
}

// resolvedDims declares the axes that are named; those of an operation's signature
// need no declaration, nor do lane and time.
func resolvedDims(b *check.Block) *notation.Dims {
	d := &notation.Dims{}
	if b.Unit.Kind == notation.OpUnit {
		return d
	}
	done := map[string]bool{"L": true, "T": true}
	declared := map[string]*notation.DimsItem{}
	for _, u := range b.Tree.Order {
		for x := range notation.Of[*notation.Dims](u.Body) {
			if holds, _ := b.Decide(x.When); x.When != nil && !holds {
				continue
			}
			for _, it := range x.Items {
				if old := declared[it.Name.Text]; old == nil || old.Size == nil && len(old.Factors) == 0 {
					declared[it.Name.Text] = it
				}
			}
		}
	}
	for _, a := range b.AxisSeq {
		it := declared[a.Name]
		if it == nil || done[a.Name] || b.Options[a.Name] != nil {
			continue
		}
		done[a.Name] = true
		if a.Free {
			it = &notation.DimsItem{Name: it.Name}
		}
		d.Items = append(d.Items, it)
	}
	for _, name := range slices.Sorted(maps.Keys(declared)) { // another name for an axis
		if a := b.Axes[name]; a != nil && a.Name != name && !done[name] {
			alias := &notation.Ident{Name: notation.Word{Text: a.Name}}
			d.Items = append(d.Items, &notation.DimsItem{Name: notation.Word{Text: name}, Size: alias})
		}
	}
	return d
}

var keywords = map[check.Kind]string{check.Input: "input", check.Outer: "outer", check.State: "state",
	check.Constant: "const", check.Clock: "clock", check.Anchor: "anchor", check.Snap: "snap"}

// declaration declares a symbol that has no equation; a parameter of the
// header is declared there.
func declaration(b *check.Block, s *check.Symbol) notation.Stmt {
	if keywords[s.Kind] == "" || b.Replaced[s.Name] != nil || s.Decl == nil {
		return nil
	}
	word := keywords[s.Kind]
	if b.Unit.Kind == notation.UpdateUnit && s.Kind == check.State {
		word = "slot"
	}
	return &notation.Declare{Keyword: notation.Word{Text: word}, Names: []*notation.DeclName{s.Decl}}
}

// replaced are the names that `with name := …` took the equation from.
func replaced(b *check.Block) []notation.Stmt {
	var out []notation.Stmt
	for _, n := range slices.Sorted(maps.Keys(b.Replaced)) {
		x := b.Replaced[n]
		if b.Time != "" {
			n += "_" + b.Time
		}
		out = append(out, &notation.Define{Target: &notation.Target{Name: &notation.Ident{Name: notation.Word{Text: n}}}, Value: x})
	}
	return out
}

// functions lists the functions that the block's own units define.
func functions(b *check.Block) []notation.Stmt {
	var out []notation.Stmt
	for _, n := range slices.Sorted(maps.Keys(b.Funcs)) {
		if f := b.Funcs[n]; f.Block != nil {
			out = append(out, f.Def)
		}
	}
	return out
}
