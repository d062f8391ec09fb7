package expand

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A memberCopy copies one statement with the reads of members as names; in a line of a
// family for one member, the value of the letter.
type memberCopy struct {
	*Families
	letter, member string
	hidden         map[string]bool          // parameters and local names
	bound          map[string]notation.Span // indices, with where they are bound
	claim          bool
}

// scope is the copy inside something that binds or hides further names.
func (r *memberCopy) scope(hide []string, bind []*notation.Binder) *memberCopy {
	c := *r
	c.hidden, c.bound = maps.Clone(r.hidden), maps.Clone(r.bound)
	if c.hidden == nil {
		c.hidden, c.bound = map[string]bool{}, map[string]notation.Span{}
	}
	for _, h := range hide {
		c.hidden[h] = true
	}
	var add func(bs []*notation.Binder)
	add = func(bs []*notation.Binder) {
		for _, b := range bs {
			add(b.Tuple)
			if b.Name.Text != "" {
				c.bound[b.Name.Text] = b.Name.Span
			}
			if r.letter != "" && b.Name.Text == r.letter {
				r.ds.Errorf(diag.DuplicateName, b.Name.Span, "%s is the letter of the family, and bound here again", r.letter).
					Hint("give the index another letter")
			}
		}
	}
	add(bind)
	return &c
}

// expand copies a statement; most have nothing that could be a member.
func (f *Families) expand(st notation.Stmt, r *memberCopy) []notation.Stmt {
	switch st := st.(type) {
	case *notation.Declare:
		return []notation.Stmt{r.declare(st)}
	case *notation.Define:
		if d := r.define(st); d != nil {
			return []notation.Stmt{d}
		}
		return nil
	case *notation.Claim:
		c := *st
		r.claim = true
		r = r.scope(localNames(st.With), nil)
		c.Left, c.Right, c.With, c.Family = r.expr(st.Left), r.expr(st.Right), r.definitions(st.With), nil
		c.Tag = r.tag(st.Tag)
		return []notation.Stmt{&c}
	case *notation.Kink:
		r.claim = true
		return []notation.Stmt{notation.Copy(st, r.expr)}
	case *notation.Invariant:
		v := *st
		r = r.scope(nil, st.Binders)
		v.Cond = r.expr(st.Cond)
		return []notation.Stmt{&v}
	case *notation.Provides:
		for _, m := range st.Marks {
			for _, a := range m.Args {
				r.checkWord(a)
			}
		}
	case *notation.NoGrad:
		r.checkWord(st.Name)
	}
	return []notation.Stmt{st}
}

// tag keeps the ids of the copies apart.
func (r *memberCopy) tag(w *notation.Word) *notation.Word {
	if w == nil || r.member == "" {
		return w
	}
	return &notation.Word{Span: w.Span, Text: w.Text + "_" + ident.ASCII(r.member)}
}

// checkWord checks a member outside of an expression.
func (r *memberCopy) checkWord(w notation.Word) {
	name, member := notation.CutMember(w.Text)
	if g := r.fams[name]; g != nil && member != "" && !slices.Contains(g.members, member) {
		r.refuseMember(w.Span, member, g)
	}
}

func (r *memberCopy) declare(st *notation.Declare) notation.Stmt {
	d := *st
	d.Family, d.Names = nil, nil
	for _, n := range st.Names {
		m := *n
		if r.member != "" {
			m.Name.Text, m.Member = notation.MemberText(n.Name.Text, r.member), nil
		} else if g := r.fams[n.Name.Text]; g != nil {
			r.ds.Errorf(diag.DuplicateName, n.Name.Span, "%s is a family, and declared here without members", n.Name.Text).
				See(g.at, "the family")
			continue
		}
		m.Init, m.Dist = r.expr(n.Init), r.expr(n.Dist)
		if n.Within != nil {
			w := *n.Within
			w.Lo, w.Hi = r.expr(w.Lo), r.expr(w.Hi)
			m.Within = &w
		}
		d.Names = append(d.Names, &m)
	}
	return &d
}

func (r *memberCopy) define(st *notation.Define) *notation.Define {
	d := *st
	d.Family = nil
	if st.Target.IsFunc {
		hide := localNames(st.With)
		for _, p := range st.Target.Params {
			hide = append(hide, p.Name.Text)
		}
		r = r.scope(hide, st.Target.Index)
		d.Value, d.With = r.expr(st.Value), r.definitions(st.With)
		return &d
	}
	t := r.target(st.Target)
	if t == nil {
		return nil
	}
	d.Target = t
	r = r.scope(localNames(st.With), t.Index)
	d.Value, d.With, d.Label = r.expr(st.Value), r.definitions(st.With), r.tag(st.Label)
	return &d
}

// target makes the first index of a family's name the member.
func (r *memberCopy) target(old *notation.Target) *notation.Target {
	name, when := r.cutTime(old.Name.Name.Text, r.bound)
	g := r.fams[name]
	if g == nil {
		return old
	}
	if len(old.Index) == 0 {
		r.refuseFamily(old.Name, g)
		return nil
	}
	b := old.Index[0]
	member := b.Name.Text
	if r.letter != "" && member == r.letter {
		member = r.member
	}
	if b.Range != nil || b.Cond != nil || len(b.Tuple) > 0 || !slices.Contains(g.members, member) {
		r.refuseMember(b.Span, b.Span.Text(), g)
		return nil
	}
	t := *old
	id := *old.Name
	id.Name.Text, id.Span = notation.MemberText(name, member)+when, old.Name.Span.To(b.Span)
	t.Name, t.Index = &id, old.Index[1:]
	if len(t.Index) == 0 {
		t.Index = nil
	}
	return &t
}

func (r *memberCopy) definitions(ds []*notation.Define) []*notation.Define {
	var out []*notation.Define
	for _, w := range ds {
		d := *w
		inner := r.scope(nil, w.Target.Index)
		d.Value = inner.expr(w.Value)
		out = append(out, &d)
	}
	return out
}

func localNames(ds []*notation.Define) []string {
	var out []string
	for _, w := range ds {
		out = append(out, w.Target.Name.Name.Text)
	}
	return out
}

// expr copies an expression with its members as names.
func (r *memberCopy) expr(e notation.Expr) notation.Expr {
	return notation.Rewrite(e, func(n notation.Expr) notation.Expr {
		switch n := n.(type) {
		case *notation.Index:
			return r.index(n)
		case *notation.Ident:
			if g, _, _ := r.family(n); g != nil && !(r.claim && r.parameter(n)) {
				r.refuseFamily(n, g)
			}
		case *notation.Reduce:
			in := r.scope(nil, n.Binders)
			return &notation.Reduce{Span: n.Span, Op: n.Op, Binders: notation.CopyAll(n.Binders, in.expr), Body: in.expr(n.Body), Empty: r.expr(n.Empty)}
		case *notation.Field:
			return n // a local name of a function
		}
		return nil
	})
}

// family is the family whose name x is, with its time.
func (r *memberCopy) family(x notation.Expr) (g *family, name, when string) {
	id, ok := x.(*notation.Ident)
	if !ok || r.hidden[id.Name.Text] {
		return nil, "", ""
	}
	name, when = r.cutTime(id.Name.Text, r.bound)
	return r.fams[name], name, when
}

// parameter reports whether a bare name may be a function's parameter, as a
// claim about the function names it.
func (r *memberCopy) parameter(id *notation.Ident) bool {
	return id.Time == nil && !id.Bar && r.free[id.Name.Text]
}

func (r *memberCopy) refuseFamily(id *notation.Ident, g *family) {
	r.ds.Errorf(diag.UnknownName, id.Span, "%s is a family: say which member", notation.Print(id, notation.Unicode)).
		Labelf("the members are %s", g.list()).See(g.at, "%s is given its members here", g.name).
		Hint("write %s[%s]", notation.Print(id, notation.Unicode), g.members[0])
}

// index reads a member: the first index of a family's name.
func (r *memberCopy) index(x *notation.Index) notation.Expr {
	g, name, when := r.family(x.X)
	if g == nil {
		return nil
	}
	old := x.X.(*notation.Ident)
	id, ok := x.At[0].(*notation.Ident)
	member := ""
	if ok && id.Time == nil && !id.Bar {
		member = id.Name.Text
	}
	if r.letter != "" && member == r.letter {
		member = r.member
	} else if at, bound := r.bound[member]; bound && slices.Contains(g.members, member) {
		r.ds.Errorf(diag.DuplicateName, x.At[0].Where(), "%s is an index here, and a member of %s", member, name).
			See(at, "bound here").Hint("give the index another letter")
		return x
	}
	if !slices.Contains(g.members, member) {
		if r.claim && r.parameter(old) {
			return nil
		}
		r.refuseMember(x.At[0].Where(), notation.Print(x.At[0], notation.Unicode), g)
		return x
	}
	out := *old
	out.Name.Text = notation.MemberText(name, member) + when
	out.Span = x.Span
	if len(x.At) == 1 {
		return &out
	}
	out.Span = old.Span.To(x.At[0].Where())
	rest := notation.Copy(&notation.Index{Span: x.Span, At: x.At[1:]}, r.expr)
	rest.X = &out
	return rest
}
