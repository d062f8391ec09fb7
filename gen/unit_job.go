package gen

import (
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/cache"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/emitcuda"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/tree"
	"github.com/nl-hecate/hecate/gen/units"
)

// A unitJob takes one unit through the stages: proof, code, tests. It works in the
// closure of the unit, the part of the tree that the unit can read, and sees nothing
// else. So the digests of the closure's units, with the compiler and the few options
// that a stage has, are all that a result depends on, and the cache has results under
// them.
type unitJob struct {
	src   *Source // with the closure as its tree
	unit  *notation.Unit
	conf  Config
	cache *cache.Cache
	seen  func(Event)
	reads []cache.Input
}

// An Event says that a stage of a unit is done.
type Event struct {
	Unit, Stage string
	Done, All   int    // stages of all units
	Cached      bool   // the result is of an earlier run
	Why         string // or why not
}

// The stages of a unit.
const (
	proofStage = "proof"
	codeStage  = "code"
	testStage  = "tests"
)

// newUnitJob finds what a unit can read: besides what its own text names, the formulas in
// which it is tried where its page names none.
func newUnitJob(s *Source, u *notation.Unit, c Config, m *cache.Cache, digests map[*notation.Unit]cache.Input) *unitJob {
	roots := []*notation.Unit{u}
	j := &unitJob{unit: u, conf: c, cache: m, reads: []cache.Input{cache.Compiler()}}
	for _, a := range s.trials(u) {
		for named := range notation.All[*notation.Apply](a) {
			if v := s.Tree.Units[named.Name.Text]; v != nil {
				roots = append(roots, v)
			}
		}
		j.reads = append(j.reads, cache.NewInput("what "+u.Name.Text+" is tested with", notation.Print(a, notation.Unicode)))
	}
	if s.tried(u) {
		used := s.Tree.UsedKnob(u)
		j.reads = append(j.reads, cache.NewInput("whether a rule uses "+u.Name.Text, used))
		if !used {
			roots = append(roots, s.Knobs()...)
		}
	}
	t := s.Tree.Closure(roots...)
	for _, v := range t.Order {
		j.reads = append(j.reads, digests[v])
	}
	j.src = s.within(t)
	return j
}

// tried reports whether a unit is a knob that is proved in some formula if no rule
// uses it.
func (s *Source) tried(u *notation.Unit) bool {
	switch u.Kind {
	case notation.StructUnit, notation.RetentionUnit, notation.AlgorithmUnit:
		return len(units.Trials(u)) == 0
	}
	return false
}

// Knobs are all units that a formula can be made of.
func (s *Source) Knobs() (out []*notation.Unit) {
	for _, u := range s.Tree.Order {
		switch u.Kind {
		case notation.FrontUnit, notation.StructUnit, notation.BiasUnit, notation.RetentionUnit, notation.AlgorithmUnit:
			out = append(out, u)
		}
	}
	return out
}

// digests are the digests of the units of a tree: of their text, which is quoted in
// what is emitted, of their syntax, for it depends on the names that other pages
// define how a line is read, and of their places.
func (s *Source) digests() map[*notation.Unit]cache.Input {
	out := map[*notation.Unit]cache.Input{}
	for _, u := range s.Tree.Order {
		out[u] = cache.NewInput("unit "+u.Name.Text, s.Path(u.Span.File.Path), s.Own(u), u.Example, textOf(u), notation.Print(u, notation.Unicode))
	}
	return out
}

// textOf is the text of a unit, from its header to its last line.
func textOf(u *notation.Unit) string {
	end := u.Span.End
	for _, st := range u.Body {
		end = max(end, st.Where().End)
	}
	return source.Span{File: u.Span.File, Start: u.Span.Start, End: end}.Text()
}

// stage computes a result, or takes it from the cache. A panic becomes a
// diagnostic that names the unit and the stage.
func stage[T any](j *unitJob, name string, more []cache.Input, compute func() (T, diag.List)) (out T, ds diag.List) {
	id := units.ID(j.unit)
	from := append(slices.Clone(j.reads), more...)
	e := Event{Unit: j.unit.Name.Text, Stage: name}
	if e.Why, e.Cached = j.cache.Get(id, name, from, &out); !e.Cached {
		func() {
			defer caught(j.unit, name, &ds)
			out, ds = compute()
		}()
		if ds.Len() == 0 {
			j.cache.Put(id, name, from, out)
		}
	}
	if j.seen != nil {
		j.seen(e)
	}
	return out, ds
}

// caught turns a panic into a diagnostic at the unit.
func caught(u *notation.Unit, stage string, ds *diag.List) {
	if r := recover(); r != nil {
		ds.Errorf(diag.Internal, u.Name.Span, "the compiler failed on %s (stage %s): %v", u.Name.Text, stage, r).
			Hint("this is a bug of hecategen and not of the page; please report it with the page").Stack = string(debug.Stack())
	}
}

// compiler takes the unit through passes.
func (j *unitJob) compiler() *unitCompiler {
	c := newCompiler(j.src, j.unit, j.conf)
	c.stats = j.conf.Stats
	return c
}

// prove proves the unit.
func (j *unitJob) prove(deep bool) (*proof.Report, diag.List) {
	r, ds := stage(j, proofStage, []cache.Input{cache.NewInput("the depth of the proof", deep)}, func() (relativeReport, diag.List) {
		c := j.compiler()
		c.deep = deep
		c.run(proofStage, "")
		return j.relative(c.report), *c.ds
	})
	return j.absolute(r), ds
}

// A relativeReport has its spans relative to units, so that it holds when a page gets
// another line above them.
type relativeReport struct {
	Report proof.Report
	Spans  []relativeSpan // of the items
}

// A relativeSpan is a span in bytes from the beginning of a unit.
type relativeSpan struct {
	Unit       string // "" where there is none
	Start, End int
}

// relative makes the spans of a report relative to the last unit that begins before each.
func (j *unitJob) relative(r *proof.Report) relativeReport {
	p := relativeReport{Report: *r}
	p.Report.Items = slices.Clone(r.Items)
	for i, it := range r.Items {
		at := relativeSpan{}
		for _, u := range j.src.Tree.Order { // the last header above
			if h := u.Span; h.File == it.Span.File && it.Span.File != nil && h.Start <= it.Span.Start && (at.Unit == "" || h.Start > j.src.Tree.Units[at.Unit].Span.Start) {
				at = relativeSpan{u.Name.Text, it.Span.Start - h.Start, it.Span.End - h.Start}
			}
		}
		p.Spans = append(p.Spans, at)
		p.Report.Items[i].Span = source.Span{}
	}
	return p
}

// absolute is the inverse of relative.
func (j *unitJob) absolute(p relativeReport) *proof.Report {
	r := p.Report
	for i, at := range p.Spans {
		if u := j.src.Tree.Units[at.Unit]; u != nil {
			r.Items[i].Span = source.Span{File: u.Span.File, Start: u.Span.Start + at.Start, End: u.Span.Start + at.End}
		}
	}
	return &r
}

// A code is what a unit becomes, and what the whole of a project needs to know of it.
type code struct {
	Files   tree.Files
	Package string // path of its package; "" for a formula with a name
	Entry   bool   // the registry lists it
	Named   *emitgo.Instance
	Kernels []emitcuda.File
	Traffic []string // rows of the table of traffic
	Cut     []string
}

// code prints the unit. It is nil for one that is not emitted.
func (j *unitJob) code() (*code, diag.List) {
	if !emits(j.unit) {
		return nil, diag.List{}
	}
	return stage(j, codeStage, append(j.places(), cache.NewInput("the contract of the page", j.header())), func() (*code, diag.List) {
		c := j.compiler()
		if j.src.Tree.Instance(j.unit) {
			return c.instance()
		}
		if blk, _ := check.Instantiate(j.src.Tree, j.unit); blk != nil {
			if ds := blk.CheckInputs(); ds.HasErrors() {
				return nil, ds
			}
		}
		if !c.run(codeStage, "") {
			return nil, *c.ds
		}
		out := &code{Cut: c.out.Cut, Entry: c.out.Kind != abi.OpUnit, Files: c.files, Kernels: c.cuda, Traffic: c.traffic()}
		out.Package, _ = emitgo.Package(c.out)
		return out, *c.ds
	})
}

// emits reports whether a unit becomes code of its own.
func emits(u *notation.Unit) bool { return Standalone(u) && !u.Example }

// places are where things go.
func (j *unitJob) places() []cache.Input {
	return []cache.Input{cache.NewInput("the folders of the project", j.conf.home(), j.conf.CUDA)}
}

// header is the contract of the unit's page, and those of the fronts that it may have a
// function of.
func (j *unitJob) header() string {
	var b strings.Builder
	for _, u := range append(j.src.Tree.Kinds(notation.FrontUnit), j.unit) {
		if p := j.src.pageOf(u); p != nil && p.Header != nil {
			for _, f := range p.Header.Fields {
				fmt.Fprintf(&b, "%s: %s\n", f.Name, f.Value)
			}
		}
	}
	return b.String()
}

// instance is a formula with a name, which is code only where it is listed.
func (c *unitCompiler) instance() (*code, diag.List) {
	of := Applied(c.src.Tree, c.unit.Formula.Parts[0])
	units, ds := c.units(of)
	if ds.HasErrors() {
		return nil, ds
	}
	in := emitgo.NewInstance(c.unit.Name.Text, of, units)
	return &code{Named: &in}, ds
}

// units compiles the units of a formula.
func (c *unitCompiler) units(of abi.Applied) (emitgo.Units, diag.List) {
	var ds diag.List
	out := emitgo.Units{}
	for _, name := range of.Names() {
		u := c.src.Tree.Units[name]
		if out[name] != nil {
			continue
		}
		if !c.src.compiled(u) {
			return nil, ds
		}
		other := &unitCompiler{src: c.src, unit: u, conf: c.conf, passes: c.passes, ds: &diag.List{}}
		done := other.run(codeStage, "abi")
		ds.Append(*other.ds)
		if !done {
			return nil, ds
		}
		out[name] = other.out
	}
	return out, ds
}

// tests prints the unit's tests and vectors.
func (j *unitJob) tests() (tree.Files, diag.List) {
	if !emits(j.unit) {
		return nil, diag.List{}
	}
	return stage(j, testStage, j.places(), func() (tree.Files, diag.List) {
		c := j.compiler()
		c.run(testStage, "")
		return c.files, *c.ds
	})
}

// EmitUnit proves one unit of a source and prints its package, with its tests, for a
// home of its own. Nothing is taken from the cache, and there are no CUDA kernels.
func EmitUnit(s *Source, u *notation.Unit, home abi.Home) (*proof.Report, tree.Files, diag.List) {
	own := *s
	own.home = home
	j := newUnitJob(&own, u, Config{CUDA: NoCUDA}, nil, own.digests())
	report, ds := j.prove(false)
	if ds.HasErrors() {
		return nil, nil, ds
	}
	code, ds := j.code()
	if ds.HasErrors() {
		return nil, nil, ds
	}
	tests, more := j.tests()
	if ds.Append(more); more.HasErrors() {
		return nil, nil, ds
	}
	maps.Copy(code.Files, tests)
	return report, code.Files, ds
}
