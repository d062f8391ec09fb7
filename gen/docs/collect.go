package docs

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/audit"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/derive"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/cost"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/safety"
	"github.com/nl-hecate/hecate/gen/simplify"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/units"
)

// Collect compiles and proves the pages of a project and gathers what the reference
// says of each unit: its equations, its derived backward, its costs, the verdicts of
// the proof, the emitted kernels, and which knobs, rules and strategies may be combined.
func Collect(c gen.Config) (*Site, diag.List) {
	p, ds := gen.Open(c)
	if ds.HasErrors() {
		return nil, ds
	}
	s := p.Source
	d := &collector{src: s, cuda: c.CUDAFolder(), site: &Site{}, plans: map[string]*abi.Unit{}, proofs: map[string]*proof.Report{}, chunked: map[string]bool{}}
	proof, pd := p.ProveOnly(false, func(string) bool { return true }, c.Seen)
	ds.Append(pd)
	units, cd := gen.Compile(s)
	ds.Append(cd)
	table, td := safety.New(s.Tree)
	if ds.Append(td); ds.HasErrors() {
		return nil, ds
	}
	for _, r := range proof.Units {
		d.proofs[r.Unit] = r
	}
	for _, u := range units {
		d.plans[u.Name] = u
	}
	d.table = table
	if d.site.Papers, pd = audit.PapersOf(s); pd.HasErrors() {
		ds.Append(pd)
		return nil, ds
	}
	for _, u := range s.Tree.Order {
		if !u.Example && s.Own(u) {
			d.site.Entries = append(d.site.Entries, d.entry(u))
		}
	}
	if slices.ContainsFunc(s.Knobs(), s.Own) {
		d.combinations()
	}
	d.forms()
	d.site.Unlink()
	return d.site, ds
}

// entryID is the name of an entry in files and links. A function may have the name of an
// operation in other letters.
func entryID(u *notation.Unit) string { return entryOf(units.ID(u)) }

// A collector makes the entries of a source.
type collector struct {
	src    *gen.Source
	cuda   string // folder of the CUDA text
	table  *safety.Table
	site   *Site
	plans  map[string]*abi.Unit
	proofs map[string]*proof.Report

	chunked map[string]bool // rules that a strategy computes
}

func (d *collector) entry(u *notation.Unit) *Entry {
	e := &Entry{Name: u.Name.Text, ID: entryID(u), Kind: u.Kind.String(), Page: d.src.Path(u.Span.File.Path),
		Source: strings.TrimSpace(notation.Print(u, notation.Unicode))}
	d.page(e, u)
	var block *check.Block
	switch u.Kind {
	case notation.OpUnit, notation.RuleUnit, notation.ComposeUnit, notation.ModelUnit, notation.UpdateUnit:
		if b, ds := check.Instantiate(d.src.Tree, u); b != nil && !ds.HasErrors() {
			d.chunked[e.Name] = b.Strategy != nil
			d.derived(e, b)
			d.blockOptions(e, b)
			block = b
		}
	default:
		d.ownOptions(e, u)
	}
	d.cited(e, u, block)
	d.verdicts(e)
	d.partners(e, u)
	d.relations(e, u)
	if p := d.plans[u.Name.Text]; p != nil {
		d.emitted(e, p)
	}
	return e
}

// page copies the contract and the prose of a page that is about one unit.
func (d *collector) page(e *Entry, u *notation.Unit) {
	for i, p := range d.src.Pages {
		if p.File != u.Span.File || p.Header == nil {
			continue
		}
		own := 0
		for _, v := range d.src.Files[i].Units {
			if !v.Example && v.Kind != notation.FuncUnit {
				own++
			}
		}
		e.Title = p.Title
		if own != 1 || u.Kind == notation.FuncUnit {
			continue
		}
		for _, f := range p.Header.Fields {
			if f.Name != "Position" {
				e.Header = append(e.Header, Field{Name: string(f.Name), Text: tags.ReplaceAllString(f.Value, "")})
			}
		}
		var spans []source.Span
		for _, b := range p.Blocks {
			if b.IsHecate || b.Span.Start <= p.Header.Span.Start && p.Header.Span.End <= b.Span.End {
				spans = append(spans, b.Span)
			}
		}
		e.Prose = without(p.File.Text, spans)
	}
}

var (
	cites  = regexp.MustCompile(`\s*@eq \S+(?:\s+"(?:[^"\\]|\\.)*")?`)
	tags   = regexp.MustCompile(`\s*\{[^{}\s]+\}`)
	titles = regexp.MustCompile(`(?m)^# .*$`)
	links  = regexp.MustCompile(`\[([^\]]+)\]\([^)]*\)`)
	blanks = regexp.MustCompile(`\n{3,}`)
)

// without is the text of a page outside of some spans, without its title and
// without links, which lead nowhere from here.
func without(text string, spans []source.Span) string {
	slices.SortFunc(spans, func(a, b source.Span) int { return b.Start - a.Start })
	for _, s := range spans {
		text = text[:s.Start] + text[s.End:]
	}
	text = titles.ReplaceAllString(text, "")
	text = links.ReplaceAllString(text, "$1")
	return strings.TrimSpace(blanks.ReplaceAllString(text, "\n\n"))
}

// derived adds the backward and the cost.
func (d *collector) derived(e *Entry, b *check.Block) {
	if b.Unit.Kind != notation.UpdateUnit {
		var ds diag.List
		if v := derive.Of(b, &ds); v != nil && !ds.HasErrors() {
			e.Backward = v.Text(notation.Unicode)
		} else if ds.Len() > 0 {
			e.NoForm = upperFirst(ds.Sorted()[0].Text) + "."
		}
	}
	var ds diag.List
	add := func(what string, f *ir.Func) {
		if f != nil && !ds.HasErrors() {
			g, _ := f.Clone()
			simplify.Simplify(g)
			e.Costs = append(e.Costs, Line{What: what, Math: cost.Of(g).String()})
		}
	}
	switch b.Unit.Kind {
	case notation.RuleUnit:
		f := irbuild.Rule(b, &ds)
		if f == nil {
			return
		}
		if c, ok := cost.OfToken(f); ok {
			e.Costs = append(e.Costs, Line{What: "write and read of a token", Math: c.String()})
		}
		add("keys, values, queries and gates of a call", f)
	case notation.OpUnit:
		add("a call", irbuild.Op(b, &ds))
	case notation.UpdateUnit:
		add("a parameter", irbuild.Update(b, &ds))
	case notation.ComposeUnit, notation.ModelUnit:
		if p := irbuild.Compose(b, &ds); p != nil {
			for _, st := range p.Stages {
				if st.Func != nil {
					add("a call, up to "+st.Func.Results[len(st.Func.Results)-1].Name, st.Func)
				}
			}
		}
	}
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// blockOptions lists the options of everything that a unit is made of.
func (d *collector) blockOptions(e *Entry, b *check.Block) {
	for _, n := range slices.Sorted(maps.Keys(b.Options)) {
		o := b.Options[n]
		d := *o.Decl
		d.Name.Text = o.PageName()
		e.Options = append(e.Options, option(&d, o.Value, o.Unit.Name.Text))
	}
}

// ownOptions lists the options of a unit that is used in others.
func (d *collector) ownOptions(e *Entry, u *notation.Unit) {
	for n := range notation.Declared(u.Body, "option") {
		e.Options = append(e.Options, option(n, n.Init, u.Name.Text))
	}
}

func option(n *notation.DeclName, value notation.Expr, of string) Option {
	bare := *n
	bare.Init = nil
	text := notation.Print(&notation.Declare{Keyword: notation.Word{Text: "option"}, Names: []*notation.DeclName{&bare}}, notation.Unicode)
	o := Option{Math: strings.TrimPrefix(text, "option "), Of: of}
	if value != nil {
		o.Default = notation.Print(value, notation.Unicode)
	}
	return o
}

// cited lists the lines of a unit that cite an equation. A formula of knobs has those of its knobs too,
// another form of a unit those of that unit if it has none itself, and those of its front. A function
// that the options leave uncalled has none there.
func (d *collector) cited(e *Entry, u *notation.Unit, b *check.Block) {
	e.Cited = d.citations(u)
	if u.Formula == nil {
		return
	}
	f := u.Formula
	own := len(e.Cited) > 0 && len(f.Parts) == 1
	if own {
		if base := d.src.Tree.Units[f.Parts[0].Name.Text]; base != nil && base.Formula != nil {
			f = base.Formula
		}
	}
	for a := range notation.All[*notation.Apply](f) {
		v := d.src.Tree.Units[a.Name.Text]
		if v == nil || own && v.Kind != notation.FrontUnit {
			continue
		}
		for _, c := range d.citations(v) {
			if c.Unit = (Link{Name: v.Name.Text, ID: entryID(v)}); !d.uncalled(b, c) {
				e.Cited = append(e.Cited, c)
			}
		}
	}
}

// uncalled reports whether a citation is that of a function that a block does not call.
func (d *collector) uncalled(b *check.Block, c Cited) bool {
	if b == nil {
		return false
	}
	return slices.ContainsFunc(b.Uncalled(), func(f *check.Function) bool {
		if f.Def == nil {
			return false
		}
		for cite := range f.Def.Cite.All() {
			if line, _ := cite.Span.File.Pos(cite.Span.Start); line == c.line && d.src.Path(cite.Span.File.Path) == c.page {
				return true
			}
		}
		return false
	})
}

// citations lists the lines of a unit that cite an equation.
func (d *collector) citations(u *notation.Unit) []Cited {
	var out []Cited
	id := units.ID(u)
	for _, p := range d.site.Papers {
		for _, r := range p.Rows {
			for _, l := range r.Lines {
				if l.Unit == id {
					out = append(out, Cited{Paper: p.Key, Number: r.Number, Anchor: anchor(p.Key, r.Number), Math: l.Text, Verdict: l.Verdict, Says: l.Says, page: l.Page, line: l.Line})
				}
			}
		}
	}
	return out
}

// verdicts copies the report: properties apart.
func (d *collector) verdicts(e *Entry) {
	r := d.proofs[e.Name]
	if r == nil {
		return
	}
	for _, it := range r.Items {
		v := Verdict{What: strings.TrimPrefix(it.ID, r.ID+"."), Verdict: it.Verdict.String(), Detail: it.Detail()}
		if it.Kind == proof.Marker || it.Kind == proof.Requires {
			if it.Text != "" {
				v.What = it.Text
			}
			e.Markers = append(e.Markers, v)
			continue
		}
		e.Verdicts = append(e.Verdicts, v)
	}
}

// relations lists the units that a unit is made of and those that use it.
func (d *collector) relations(e *Entry, u *notation.Unit) {
	add := func(what string, links []Link) {
		if len(links) > 0 {
			e.Relations = append(e.Relations, Relation{What: what, Links: links})
		}
	}
	if u.Formula != nil {
		add("Made of", d.named(u.Formula))
	}
	for sp := range notation.Of[*notation.Special](u.Body) {
		text := strings.TrimPrefix(notation.Print(sp, notation.Unicode), "special ")
		add("The same", []Link{{Name: text}})
	}
	var used []Link
	for _, v := range d.src.Tree.Order {
		if v.Example || v == u {
			continue
		}
		in := d.named(v.Formula)
		for sp := range notation.Of[*notation.Special](v.Body) {
			in = append(append(in, d.named(sp.Left)...), d.named(sp.Right)...)
		}
		if slices.ContainsFunc(in, func(l Link) bool { return l.Name == e.Name }) {
			used = append(used, Link{Name: v.Name.Text, ID: entryID(v)})
		}
	}
	add("Named by", used)
}

// named lists the units that a formula names.
func (d *collector) named(f *notation.Formula) []Link {
	var out []Link
	for a := range notation.All[*notation.Apply](f) {
		l := Link{Name: a.Name.Text, ID: ident.ID(a.Name.Text)}
		if d.src.Tree.Units[a.Name.Text] != nil && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}
