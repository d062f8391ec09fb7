package gen

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/derive"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/docs"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/safety"
	"github.com/nl-hecate/hecate/gen/source"
)

// Document gathers what the reference says: of every unit of the pages what it
// is, what was derived and proved of it and what was made of it, and what may be
// combined with what.
func Document(c Config) (*docs.Site, diag.List) {
	p, ds := Open(c)
	if ds.HasErrors() {
		return nil, ds
	}
	s := p.Source
	d := &documenter{src: s, cuda: c.cuda(), site: &docs.Site{}, plans: map[string]*abi.Unit{}, proofs: map[string]*prove.Report{}, chunked: map[string]bool{}}
	p.count(len(p.jobs))
	proof, pd := p.Prove(false)
	ds.Append(pd)
	units, cd := Compile(s)
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
	for _, u := range s.Tree.Order {
		if !u.Example && s.Own(u) {
			d.site.Entries = append(d.site.Entries, d.entry(u))
		}
	}
	if slices.ContainsFunc(s.knobs(), s.Own) {
		d.legality()
	}
	d.forms()
	d.site.Unlink()
	return d.site, ds
}

// entryID is the name of an entry in files and links. A function may have the name of an
// operation in other letters.
func entryID(u *notation.Unit) string {
	if name, ok := strings.CutSuffix(check.UnitID(u), "()"); ok {
		return name + "_function"
	}
	return check.UnitID(u)
}

// A documenter makes the entries of a source.
type documenter struct {
	src    *Source
	cuda   string // folder of the CUDA text
	table  *safety.Table
	site   *docs.Site
	plans  map[string]*abi.Unit
	proofs map[string]*prove.Report

	chunked map[string]bool // rules that a strategy computes
}

func (d *documenter) entry(u *notation.Unit) *docs.Entry {
	e := &docs.Entry{Name: u.Name.Text, ID: entryID(u), Kind: check.KindWord(u.Kind), Page: d.src.Path(u.Span.File.Path),
		Source: strings.TrimSpace(notation.Print(u, notation.Unicode))}
	d.page(e, u)
	switch u.Kind {
	case notation.OpUnit, notation.RuleUnit, notation.ComposeUnit, notation.ModelUnit, notation.UpdateUnit:
		if b, ds := check.Instantiate(d.src.Tree, u); b != nil && !ds.HasErrors() {
			d.chunked[e.Name] = b.Strategy != nil
			d.derived(e, b)
			d.blockOptions(e, b)
		}
	default:
		d.ownOptions(e, u)
	}
	d.verdicts(e)
	d.partners(e, u)
	d.relations(e, u)
	if p := d.plans[u.Name.Text]; p != nil {
		d.emitted(e, p)
	}
	return e
}

// page copies the contract and the prose of a page that is about one unit.
func (d *documenter) page(e *docs.Entry, u *notation.Unit) {
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
				e.Header = append(e.Header, docs.Field{Name: string(f.Name), Text: tags.ReplaceAllString(f.Value, "")})
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
	cites  = regexp.MustCompile(`\s*@eq \S+`)
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
func (d *documenter) derived(e *docs.Entry, b *check.Block) {
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
			autodiff.Simplify(g)
			e.Costs = append(e.Costs, docs.Line{What: what, Math: prove.CostOf(g).String()})
		}
	}
	switch b.Unit.Kind {
	case notation.RuleUnit:
		f := irbuild.Rule(b, &ds)
		if f == nil {
			return
		}
		if c, ok := prove.StepCost(f); ok {
			e.Costs = append(e.Costs, docs.Line{What: "write and read of a token", Math: c.String()})
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
func (d *documenter) blockOptions(e *docs.Entry, b *check.Block) {
	var names []string
	for n := range b.Options {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		o := b.Options[n]
		d := *o.Decl
		d.Name.Text = o.PageName()
		e.Options = append(e.Options, option(&d, o.Value, o.Unit.Name.Text))
	}
}

// ownOptions lists the options of a unit that stands in others.
func (d *documenter) ownOptions(e *docs.Entry, u *notation.Unit) {
	for _, st := range u.Body {
		if dc, ok := st.(*notation.Declare); ok && dc.Keyword.Text == "option" {
			for _, n := range dc.Names {
				e.Options = append(e.Options, option(n, n.Init, u.Name.Text))
			}
		}
	}
}

func option(n *notation.DeclName, value notation.Expr, of string) docs.Option {
	bare := *n
	bare.Init = nil
	text := notation.Print(&notation.Declare{Keyword: notation.Word{Text: "option"}, Names: []*notation.DeclName{&bare}}, notation.Unicode)
	o := docs.Option{Math: strings.TrimPrefix(text, "option "), Of: of}
	if value != nil {
		o.Default = notation.Print(value, notation.Unicode)
	}
	return o
}

// verdicts copies the report: properties apart.
func (d *documenter) verdicts(e *docs.Entry) {
	r := d.proofs[e.Name]
	if r == nil {
		return
	}
	for _, it := range r.Items {
		v := docs.Verdict{What: strings.TrimPrefix(it.ID, r.ID+"."), Verdict: it.Verdict.String(), Detail: it.Detail()}
		if it.Kind == prove.Marker || it.Kind == prove.Requires {
			if it.Text != "" {
				v.What = it.Text
			}
			e.Markers = append(e.Markers, v)
			continue
		}
		e.Verdicts = append(e.Verdicts, v)
	}
}

// relations says what a unit is made of and where it is used.
func (d *documenter) relations(e *docs.Entry, u *notation.Unit) {
	add := func(what string, links []docs.Link) {
		if len(links) > 0 {
			e.Relations = append(e.Relations, docs.Relation{What: what, Links: links})
		}
	}
	if u.Formula != nil {
		add("Made of", d.named(u.Formula))
	}
	for _, st := range u.Body {
		if sp, ok := st.(*notation.Special); ok {
			text := strings.TrimPrefix(notation.Print(sp, notation.Unicode), "special ")
			add("The same", []docs.Link{{Name: text}})
		}
	}
	var used []docs.Link
	for _, v := range d.src.Tree.Order {
		if v.Example || v == u {
			continue
		}
		in := d.named(v.Formula)
		for _, st := range v.Body {
			if sp, ok := st.(*notation.Special); ok {
				in = append(append(in, d.named(sp.Left)...), d.named(sp.Right)...)
			}
		}
		if slices.ContainsFunc(in, func(l docs.Link) bool { return l.Name == e.Name }) {
			used = append(used, docs.Link{Name: v.Name.Text, ID: entryID(v)})
		}
	}
	add("Named by", used)
}

// named lists the units that a formula names.
func (d *documenter) named(f *notation.Formula) []docs.Link {
	var out []docs.Link
	if f == nil {
		return out
	}
	notation.Inspect(f, func(n any) bool {
		if a, ok := n.(*notation.Apply); ok && d.src.Tree.Units[a.Name.Text] != nil {
			l := docs.Link{Name: a.Name.Text, ID: check.ID(a.Name.Text)}
			if !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
		return true
	})
	return out
}

// emitted says what the compiler made of a unit.
func (d *documenter) emitted(e *docs.Entry, u *abi.Unit) {
	b, _ := check.Instantiate(d.src.Tree, d.src.Tree.Units[u.Name]) // as Compile did
	d.equations(e, u, b)
	letters := map[string]string{} // what a page calls a name that is ASCII in code
	for _, s := range b.SymSeq {
		letters[check.ASCII(s.Name)] = s.Name
	}
	called := func(name string) string {
		if l := letters[name]; l != "" {
			return l
		}
		return name
	}
	for _, z := range u.Sizes {
		row := docs.Size{Name: z.Name}
		switch {
		case !z.Free:
			row.Default = strings.Join(z.Product, " × ")
		case z.Default >= 0:
			row.Default = fmt.Sprint(z.Default)
		default:
			row.Default = "must be given"
		}
		e.Sizes = append(e.Sizes, row)
	}
	for _, w := range u.Weights {
		var notes []string
		if w.Fixed {
			notes = append(notes, "no gradient")
		} else if w.NoDecay {
			notes = append(notes, "no decay")
		}
		e.Params = append(e.Params, docs.Param{Math: called(w.Name), Shape: dimsText(w.Dims), Start: startText(w.Init), Notes: strings.Join(notes, ", ")})
	}
	for _, st := range u.States {
		first := "zero"
		if st.Starts {
			first = "learned"
		}
		e.States = append(e.States, docs.State{Math: called(st.Name), Shape: dimsText(st.Dims), Start: first})
	}
	e.Cuts = u.Cut
	d.kernels(e, u)
}

// equations lists what is computed. A line of the law is written out, and with it
// go the functions of the knobs that it calls.
func (d *documenter) equations(e *docs.Entry, u *abi.Unit, b *check.Block) {
	written := map[string]string{}
	for _, q := range b.AllEqs() {
		if q.Def != nil && q.Unit != nil && q.Unit.Kind == notation.LawUnit {
			written[q.ID] = notation.Print(q.Def, notation.Unicode)
		}
	}
	for _, q := range u.Equations {
		text := q.Text
		if w := written[q.ID]; w != "" {
			text = w
		}
		e.Equations = append(e.Equations, docs.Equation{ID: q.ID, Math: strings.Join(strings.Fields(cites.ReplaceAllString(text, "")), " "), Cite: q.Cite})
	}
	if len(written) == 0 {
		return
	}
	var names []string
	for n, f := range b.Funcs {
		if f.Block != nil {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	for _, n := range names {
		e.Equations = append(e.Equations, docs.Equation{Math: strings.Join(strings.Fields(notation.Print(b.Funcs[n].Def, notation.Unicode)), " ")})
	}
}

// kernels lists the kernels of a unit with what they keep.
func (d *documenter) kernels(e *docs.Entry, u *abi.Unit) {
	e.Folder, _ = emitgo.Package(u)
	for _, st := range u.Stages {
		for _, p := range []struct {
			pair abi.Pair
			file string
			does [2]string
		}{{st.Pair, st.Name, [2]string{"forward", "backward"}}, {st.Frozen, "read", [2]string{"frozen read", "its backward"}}, {st.Start, "start", [2]string{"first states", "their backward"}}} {
			for i, k := range []*plan.Kernel{p.pair.Fwd, p.pair.Bwd} {
				if k == nil {
					continue
				}
				file := strings.ToLower(p.file) + ".go"
				if u.Kind == abi.OpUnit {
					file = u.ID + ".go"
				} else if u.Kind == abi.UpdateUnit {
					_, pkg := emitgo.Package(u)
					file = pkg + ".go"
				}
				e.Kernels = append(e.Kernels, docs.Kernel{Name: k.Name, Does: p.does[i], Go: file, CUDA: d.kernelText(u, k)})
				if m := k.Memory; !m.Saved.IsZero() || !m.Checkpoints.IsZero() || !m.Workspace.IsZero() {
					e.Memory = append(e.Memory, docs.Memory{Kernel: k.Name, Saved: m.Saved.String(), Checkpoints: m.Checkpoints.String(), Workspace: m.Workspace.String()})
				}
			}
		}
	}
}

// WriteDocs writes the reference under a folder: markdown/ holds exactly the
// entries, index.html is the site. It returns the number of files.
func WriteDocs(site *docs.Site, dir string) (int, error) {
	pages, err := site.Markdown()
	if err != nil {
		return 0, err
	}
	page, err := site.HTML()
	if err != nil {
		return 0, err
	}
	under := filepath.Join(dir, "markdown")
	if err := os.MkdirAll(under, 0o755); err != nil {
		return 0, err
	}
	old, err := filepath.Glob(filepath.Join(under, "*.md"))
	if err != nil {
		return 0, err
	}
	for _, p := range old { // of a page that is gone
		if pages[filepath.Base(p)] == nil {
			err = errors.Join(err, os.Remove(p))
		}
	}
	for name, text := range pages {
		err = errors.Join(err, os.WriteFile(filepath.Join(under, name), text, 0o644))
	}
	return len(pages) + 1, errors.Join(err, os.WriteFile(filepath.Join(dir, "index.html"), page, 0o644))
}
