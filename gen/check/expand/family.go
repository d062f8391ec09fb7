package expand

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// A family is a name with members, `family s ∈ {k, v} : state M[s] ∈ …`. It is
// not an axis: before anything else reads the statements of a block, each line
// of a family is copied once for each member, and a read of a member,
// `M_{t−1}[k]`, becomes one name, M[k], which no page can write otherwise.
// Later stages see names only.
//
// The first index of a family's name is always a member; in all other places
// the same word has its usual meaning, so a member may have the name of a
// vector. Two cases are ambiguous and refused: an index that is bound where a
// member of its name is read, and a letter that is bound again. A parameter of
// a function and a local name hide a family of their name, as any other.

// A family is what is known of one name.
type family struct {
	name     string
	members  []string
	declared bool // by a declaration: an equation adds no member
	at       notation.Span
}

func (f *family) list() string { return strings.Join(f.members, ", ") }

// Families are the families of a block.
type Families struct {
	ds   *diag.List
	fams map[string]*family
	time string          // the letter of the block's time
	free map[string]bool // parameters of functions, which a claim may name
}

// ExpandFamilies writes out the families of some sources for their members, and returns
// them with the overrides of their members. Sources without any stay as they are, and
// their families are nil.
func ExpandFamilies(srcs []Source, with []*notation.Override, time string, ds *diag.List) (*Families, []*notation.Override) {
	f := &Families{ds: ds, fams: map[string]*family{}, time: time, free: map[string]bool{}}
	if !f.gather(srcs, true) {
		return nil, with
	}
	f.gather(srcs, false)
	for _, s := range srcs {
		for _, st := range s.Body {
			if fam := notation.FamilyOf(st); fam != nil && !f.checkUnit(s.Unit, fam) {
				return f, with
			}
		}
	}
	for i := range srcs {
		s := &srcs[i]
		var body []notation.Stmt
		for _, st := range s.Body {
			body = append(body, f.statement(st)...)
		}
		s.Body = body
	}
	var out []*notation.Override
	for _, o := range with {
		out = append(out, f.override(o)...)
	}
	return f, out
}

// Claim writes out a claim of no page, such as a derived one.
func (f *Families) Claim(c *notation.Claim, ds *diag.List) *notation.Claim {
	if f == nil {
		return c
	}
	g := *f
	g.ds = ds
	return g.expand(c, &memberCopy{Families: &g})[0].(*notation.Claim)
}

// Members are the names of a family's members, nil where the name is not a family's.
func (f *Families) Members(name string) []string {
	g := f.fams[name]
	if g == nil {
		return nil
	}
	var out []string
	for _, m := range g.members {
		out = append(out, notation.MemberText(g.name, m))
	}
	return out
}

// gather notes the families that declarations make, or those that only
// equations do; it reports whether any line has a family.
func (f *Families) gather(srcs []Source, declared bool) (found bool) {
	for _, s := range srcs {
		for _, st := range s.Body {
			fam := notation.FamilyOf(st)
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
				if w.Text, _ = f.cutTime(w.Text, nil); !declared && fam != nil && (f.fams[w.Text] == nil || !f.fams[w.Text].declared) {
					f.note(w, fam, false)
				}
			}
		}
	}
	return found
}

func (f *Families) note(w notation.Word, fam *notation.Family, declared bool) {
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

// cutTime cuts the time from a name: the letter of time, or an index that is bound.
func (f *Families) cutTime(text string, bound map[string]notation.Span) (name, when string) {
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

// statement writes out one statement: one for each member, or the statement
// with its members as names.
func (f *Families) statement(st notation.Stmt) []notation.Stmt {
	fam := notation.FamilyOf(st)
	if fam == nil {
		return f.expand(st, &memberCopy{Families: f})
	}
	if !f.checkPrefix(st, fam) {
		return nil
	}
	var out []notation.Stmt
	for _, m := range fam.Members {
		out = append(out, f.expand(st, &memberCopy{Families: f, letter: fam.Letter.Text, member: m.Text})...)
	}
	return out
}

// checkUnit refuses a family in a unit that can hold none.
func (f *Families) checkUnit(u *notation.Unit, fam *notation.Family) bool {
	switch u.Kind {
	case notation.RuleUnit, notation.FrontUnit, notation.ComposeUnit, notation.ModelUnit:
		return true
	}
	f.ds.Errorf(diag.NotHere, fam.Span, "a family is not allowed in %s", units.KindName(u.Kind)).
		Hint("only rules, fronts, compositions and models have families")
	return false
}

// checkPrefix checks the prefix of a line.
func (f *Families) checkPrefix(st notation.Stmt, fam *notation.Family) bool {
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
		name, _ := f.cutTime(d.Target.Name.Name.Text, nil)
		for _, m := range fam.Members {
			if g := f.fams[name]; !slices.Contains(g.members, m.Text) {
				f.refuseMember(m.Span, m.Text, g)
				return false
			}
		}
	}
	return true
}

func (f *Families) refuseMember(at notation.Span, member string, g *family) {
	d := f.ds.Errorf(diag.UnknownName, at, "%s is not a member of %s", member, g.name).
		Labelf("the members are %s", g.list()).See(g.at, "%s is given its members here", g.name)
	if n := ident.Nearest(member, slices.Clone(g.members)); n != "" {
		d.Hint("did you mean %s[%s]?", g.name, n)
	}
}

// override replaces a family's name by each of its members.
func (f *Families) override(o *notation.Override) []*notation.Override {
	c := *o
	c.Value = (&memberCopy{Families: f}).expr(o.Value)
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
