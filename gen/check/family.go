package check

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// A family is a name with members, `family s ∈ {k, v} : state M[s] ∈ …`. It is
// no axis: before anything else looks at the statements of a block, each line
// of a family is copied once for each member, and whatever reads a member,
// `M_{t−1}[k]`, becomes one name, M[k], which no page can write otherwise. All
// later stages see names and know of no family.
//
// The first index of a family's name is a member, and stands for nothing else;
// everywhere else the same word means what it always means. So a member may
// have the name of a vector. Two words would be read in two ways and are
// refused: an index that is bound where a member of its name is read, and a
// letter that is bound again. A parameter of a function and a local name hide
// a family of their name, as they hide any other.

// A family is what is known of one name.
type family struct {
	name     string
	members  []string
	declared bool // by a declaration: an equation adds no member
	at       notation.Span
}

func (f *family) list() string { return strings.Join(f.members, ", ") }

// A familiar finds the families of a block.
type familiar struct {
	ds   *diag.List
	fams map[string]*family
	time string
	free map[string]bool // parameters of functions, which a claim may name
}

// families writes the families of the block's sources out, and gives back the
// overrides with theirs. A block without any is left as it is.
func (in *instancer) families(with []*notation.Override) []*notation.Override {
	f := &familiar{ds: in.ds, fams: map[string]*family{}, time: in.timeLetter(), free: map[string]bool{}}
	if !f.gather(in.srcs, true) {
		return with
	}
	f.gather(in.srcs, false)
	in.b.families = f
	for _, s := range in.srcs {
		for _, st := range s.body {
			if fam := familyOf(st); fam != nil && !f.home(s.unit, fam) {
				return with
			}
		}
	}
	for i := range in.srcs {
		s := &in.srcs[i]
		var body []notation.Stmt
		for _, st := range s.body {
			body = append(body, f.statement(st)...)
		}
		s.body = body
	}
	var out []*notation.Override
	for _, o := range with {
		out = append(out, f.override(o)...)
	}
	return out
}

// ExpandClaim is a claim that stands on no page, such as a derived one, with the
// members of families as the block names them.
func (b *Block) ExpandClaim(c *notation.Claim, ds *diag.List) *notation.Claim {
	if b.families == nil {
		return c
	}
	f := *b.families
	f.ds = ds
	return f.plain(c, &reader{familiar: &f})[0].(*notation.Claim)
}

// gather notes the families that declarations make, or those that only
// equations do; it reports whether any line has a family.
func (f *familiar) gather(srcs []source, declared bool) (found bool) {
	for _, s := range srcs {
		for _, st := range s.body {
			fam := familyOf(st)
			found = found || fam != nil
			switch st := st.(type) {
			case *notation.Declare:
				for _, n := range st.Names {
					if declared && fam != nil {
						f.note(n.Name, fam, true)
					}
				}
			case *notation.Define:
				if st.Target.IsFunc {
					for _, p := range st.Target.Params {
						f.free[p.Name.Text] = true
					}
					continue
				}
				w := st.Target.Name.Name
				if w.Text, _ = f.moment(w.Text, nil); !declared && fam != nil && (f.fams[w.Text] == nil || !f.fams[w.Text].declared) {
					f.note(w, fam, false)
				}
			}
		}
	}
	return found
}

func familyOf(st notation.Stmt) *notation.Family {
	switch st := st.(type) {
	case *notation.Declare:
		return st.Family
	case *notation.Define:
		return st.Family
	case *notation.Claim:
		return st.Family
	}
	return nil
}

func (f *familiar) note(w notation.Word, fam *notation.Family, declared bool) {
	g := f.fams[w.Text]
	if g == nil {
		g = &family{name: w.Text, declared: declared, at: w.Span}
		f.fams[w.Text] = g
	}
	for _, m := range fam.Members {
		if !slices.Contains(g.members, m.Text) {
			g.members = append(g.members, m.Text)
		}
	}
}

// moment takes the letter of time, or a moment that is bound, off a name.
func (f *familiar) moment(text string, bound map[string]notation.Span) (name, when string) {
	i := strings.LastIndexByte(text, '_')
	if f.time == "" || i <= 0 || f.fams[text] != nil {
		return text, ""
	}
	_, isBound := bound[text[i+1:]]
	if s := text[i+1:]; s == f.time || s == "0" || isBound {
		return text[:i], text[i:]
	}
	return text, ""
}

// statement writes one statement out: one for each member, or the statement
// with its members as names.
func (f *familiar) statement(st notation.Stmt) []notation.Stmt {
	fam := familyOf(st)
	if fam == nil {
		return f.plain(st, &reader{familiar: f})
	}
	if !f.stands(st, fam) {
		return nil
	}
	var out []notation.Stmt
	for _, m := range fam.Members {
		out = append(out, f.plain(st, &reader{familiar: f, letter: fam.Letter.Text, member: m.Text})...)
	}
	return out
}

// home refuses a family in a unit that can hold none.
func (f *familiar) home(u *notation.Unit, fam *notation.Family) bool {
	switch u.Kind {
	case notation.RuleUnit, notation.FrontUnit, notation.ComposeUnit, notation.ModelUnit:
		return true
	}
	f.ds.Errorf(diag.NotHere, fam.Span, "a family cannot stand in %s", units.KindName(u.Kind)).
		Hint("families stand in rules, fronts, compositions and models")
	return false
}

// stands checks the prefix of a line.
func (f *familiar) stands(st notation.Stmt, fam *notation.Family) bool {
	if d, ok := st.(*notation.Declare); ok {
		switch d.Keyword.Text {
		case "option", "input", "clock":
			f.ds.Errorf(diag.NotHere, d.Keyword.Span, "an %s has no members", d.Keyword.Text).Hint("declare each of them")
			return false
		}
	}
	for i, m := range fam.Members {
		switch {
		case slices.ContainsFunc(fam.Members[:i], func(w notation.Word) bool { return w.Text == m.Text }):
			f.ds.Errorf(diag.DuplicateName, m.Span, "the member %s is named twice", m.Text)
			return false
		case m.Text == fam.Letter.Text:
			f.ds.Errorf(diag.DuplicateName, fam.Letter.Span, "%s is the letter of the family and one of its members", m.Text).
				See(m.Span, "the member").Hint("give the family another letter")
			return false
		case m.Text == f.time:
			f.ds.Errorf(diag.TimeSuffix, m.Span, "%s is the letter of time and names no member", m.Text)
			return false
		}
	}
	if d, ok := st.(*notation.Define); ok {
		name, _ := f.moment(d.Target.Name.Name.Text, nil)
		for _, m := range fam.Members {
			if g := f.fams[name]; !slices.Contains(g.members, m.Text) {
				f.unknown(m.Span, m.Text, g)
				return false
			}
		}
	}
	return true
}

func (f *familiar) unknown(at notation.Span, member string, g *family) {
	d := f.ds.Errorf(diag.UnknownName, at, "%s is no member of %s", member, g.name).
		Labelf("the members are %s", g.list()).See(g.at, "%s is given its members here", g.name)
	if n := ident.Nearest(member, slices.Clone(g.members)); n != "" {
		d.Hint("did you mean %s[%s]?", g.name, n)
	}
}

// override replaces a family's name by each of its members.
func (f *familiar) override(o *notation.Override) []*notation.Override {
	c := *o
	c.Value = (&reader{familiar: f}).expr(o.Value)
	g := f.fams[o.Name.Text]
	if g == nil {
		return []*notation.Override{&c}
	}
	var out []*notation.Override
	for _, m := range g.members {
		d := c
		d.Name.Text = notation.MemberText(g.name, m)
		out = append(out, &d)
	}
	return out
}
