package inspect

import (
	"path"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/markdown"
	"github.com/nl-hecate/hecate/gen/spec"
)

// Resolution of citations and of references to other pages.

// Resolve resolves the citations and references of pages and records their targets. It
// returns diagnostics for pages with hecate blocks only: an ambiguous reference is an
// error, a dangling one and an unknown paper are warnings, a missing equation number and
// an equation that is not marked as read are notes.
//
// exists reports whether there is a file outside the given pages; nil means that there is
// none.
func Resolve(pages []*spec.Page, bib *spec.Bibliography, exists func(path string) bool) diag.List {
	var diags diag.List
	x := newIndex(pages, exists)
	for _, p := range pages {
		p.Citations = markdown.Cite(p, bib)
		for i := range p.Refs {
			x.resolve(p, &p.Refs[i])
		}
		if p.Ours() {
			reportUnresolved(p, bib, &diags)
		}
	}
	return diags
}

// reportUnresolved reports the citations and references of a page that do not resolve.
func reportUnresolved(p *spec.Page, bib *spec.Bibliography, diags *diag.List) {
	for _, r := range p.Refs {
		switch r.Resolution {
		case spec.RefAmbiguous:
			diags.Errorf(diag.AmbiguousRef, r.Span, "%s fits %d pages", r.Target, len(r.Candidates)).
				Hint("write one of %s", strings.Join(r.Candidates, ", "))
		case spec.RefDangling:
			diags.Warnf(diag.DanglingRef, r.Span, "no page %s", r.Target).Hint("correct the path or drop the reference")
		}
	}
	for _, c := range p.Citations {
		switch c.State {
		case spec.NoPaper:
			diags.Warnf(diag.UnknownPaper, c.Span, "%q names no paper", c.Text).
				Hint("write the paper's key before the number, as in paper#%s", c.Eq)
		case spec.NoEdition:
			key, edition, _ := strings.Cut(c.Paper, "@")
			have := bib.Editions(key)
			d := diags.Errorf(diag.NoSuchEdition, c.Span, "%s does not list the edition %s of %s", markdown.BibliographyName, edition, key).
				Hint("add a row for it, or cite %s", strings.Join(editions(have), " or "))
			d.See(have[0].Span, "the paper's row is here")
		case spec.Absent:
			p := bib.ByKey(c.Paper)
			diags.Errorf(diag.NoSuchEquation, c.Span, "%s has no equation %s", c.Paper, number(c)).See(p.Span, "it has the equations %s", p.Numbers()).
				Hint("correct the number, or name the edition that it is from")
		case spec.Backwards:
			diags.Errorf(diag.BackwardRange, c.Span, "the range %s ends before it begins", number(c)).See(bib.ByKey(c.Paper).Span, "the paper's row is here").
				Hint("write %s#%s-%s", c.Paper, c.EqEnd, c.Eq)
		case spec.UnknownPaper:
			diags.Warnf(diag.UnknownPaper, c.Span, "%s does not list the paper %s", markdown.BibliographyName, c.Paper).
				Hint("add a row for it, or correct the name")
		case spec.NoNumber:
			note(diags, diag.NoEquationNumber, c, "the number of this equation of "+c.Paper+" is open")
		case spec.NotRead:
			note(diags, diag.EquationNotRead, c, markdown.BibliographyName+" does not say that "+c.Canonical+" was read")
		}
	}
}

// number is the equation, or the range of them, that a citation names.
func number(c spec.Citation) string {
	if c.EqEnd != "" {
		return c.Eq + "-" + c.EqEnd
	}
	return c.Eq
}

// editions are the keys that name a paper in its editions.
func editions(papers []*spec.Paper) []string {
	var out []string
	for _, p := range papers {
		out = append(out, p.Key)
		if !strings.Contains(p.Key, "@") && p.Version != "" {
			out = append(out, p.Key+"@"+p.Version)
		}
	}
	return out
}

func note(diags *diag.List, code diag.Code, c spec.Citation, text string) {
	diags.Add(diag.Diagnostic{Severity: diag.Note, Code: code, Span: c.Span, Text: text})
}

// An index finds pages by path and by the ends of paths.
type index struct {
	byPath map[string]bool
	byBase map[string][]string // base name to paths, sorted
	exists func(string) bool
}

func newIndex(pages []*spec.Page, exists func(string) bool) *index {
	x := &index{byPath: map[string]bool{}, byBase: map[string][]string{}, exists: exists}
	for _, p := range pages {
		name := path.Clean(p.File.Path)
		x.byPath[name] = true
		x.byBase[path.Base(name)] = append(x.byBase[path.Base(name)], name)
	}
	for _, names := range x.byBase {
		slices.Sort(names)
	}
	return x
}

// resolve tries a reference as an exact path, under specs/, in the folders above the
// citing page and specs/ there, and last as the end of exactly one path. Pages of the tree
// come before files outside it.
func (x *index) resolve(p *spec.Page, r *spec.Ref) {
	if r.Kind == spec.RefNumber {
		x.number(r)
		return
	}
	places := candidatePaths(path.Dir(path.Clean(p.File.Path)), r)
	if x.resolveFirst(r, places, func(name string) bool { return x.byPath[name] }) {
		return
	}
	x.resolveTo(r, x.pathsEndingIn(r.Target))
	if r.Resolution == spec.RefDangling && x.exists != nil {
		x.resolveFirst(r, places, x.exists)
	}
}

// candidatePaths lists the paths that a reference on a page in dir may mean, in order of
// preference.
func candidatePaths(dir string, r *spec.Ref) []string {
	var out []string
	if r.Kind != spec.RefLink {
		out = append(out, path.Clean(r.Target), path.Join("specs", r.Target))
	}
	for {
		out = append(out, path.Join(dir, r.Target), path.Join(dir, "specs", r.Target))
		if dir == path.Dir(dir) {
			return out
		}
		dir = path.Dir(dir)
	}
}

// resolveFirst resolves the reference to the first path that exists.
func (x *index) resolveFirst(r *spec.Ref, places []string, there func(string) bool) bool {
	for _, name := range places {
		if there(name) {
			r.Resolution, r.Path = spec.RefResolved, name
			return true
		}
	}
	return false
}

// pathsEndingIn returns the paths that end in the target.
func (x *index) pathsEndingIn(target string) []string {
	target = strings.TrimPrefix(path.Clean("/"+target), "/")
	var out []string
	for _, name := range x.byBase[path.Base(target)] {
		if name == target || strings.HasSuffix(name, "/"+target) {
			out = append(out, name)
		}
	}
	return out
}

// number resolves `Spec 17` to a page whose base name begins with 17_.
func (x *index) number(r *spec.Ref) {
	var fits []string
	for base, names := range x.byBase {
		if digits, _, ok := strings.Cut(base, "_"); ok && trimZeros(digits) == trimZeros(r.Target) {
			fits = append(fits, names...)
		}
	}
	slices.Sort(fits)
	x.resolveTo(r, fits)
}

func trimZeros(s string) string { return strings.TrimLeft(s, "0") }

func (x *index) resolveTo(r *spec.Ref, fits []string) {
	switch len(fits) {
	case 0:
		r.Resolution = spec.RefDangling
	case 1:
		r.Resolution, r.Path = spec.RefResolved, fits[0]
	default:
		r.Resolution, r.Candidates = spec.RefAmbiguous, fits
	}
}
