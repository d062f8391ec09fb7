package prove

import (
	"fmt"
	"math"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// What must hold at every step is decided in one of three ways. Interval
// arithmetic proves a range or an inequality that follows from the equations
// alone (ranges.go), and refutes a range that is narrower than what they give.
// All else is followed along trajectories: the rule runs from the values that its
// page starts it from, over random tokens, chunk after chunk, and after every
// token all sides are compared; then along hard ones, on which learned numbers
// and tokens are far from any start (hard.go). Declared sets are invariants too:
// that of every gate, and that of every state. Whatever else is said, the numbers
// must stay numbers.

// The length of a trajectory: chunks of so many tokens.
const (
	quickChunks, quickChunk = 4, 16
	deepChunks, deepChunk   = 100, 100
)

// A watched thing is a probe with its item and what must hold of it.
type watched struct {
	it    Item
	probe irbuild.Probe
	op    string
	set   *notation.Type
	page  *notation.Unit // that an invariant speaks of, where it need not hold here
	ev    Evidence
	bad   string

	closest float64 // how near it came to failing
	call    string  // and where
}

// newWatched makes an item that nothing is known of yet.
func newWatched(it Item, probe irbuild.Probe, op string, set *notation.Type) *watched {
	w := &watched{it: it, probe: probe, op: op, set: set, closest: math.Inf(1)}
	w.ev = Evidence{Verdict: Tested, Tolerance: w.tolerance()}
	return w
}

// tolerance is what rounding may do along a trajectory: it adds up in what is kept
// equal, and an inequality has room.
func (w *watched) tolerance() float64 {
	if w.set == nil && w.op == "=" || w.set != nil && ofRows(w.set.Kind) {
		return invTol
	}
	return rangeTol
}

// ruleInvariants follows the rule and settles everything that must hold at
// every step.
func (p *prover) ruleInvariants() {
	all := p.watch()
	var ds diag.List
	probes := make([]irbuild.Probe, len(all))
	for i, w := range all {
		probes[i] = w.probe
	}
	f := irbuild.Probed(p.blk, probes, &ds)
	p.ds.Append(ds)
	if f == nil || ds.HasErrors() {
		for _, w := range all {
			w.it.Evidence = failed("cannot be built")
			p.add(w.it)
		}
		return
	}
	p.byRanges(f, all)
	finite := Item{Kind: Domain, Name: "finite", Span: p.unit.Span, Text: "the output stays finite"}
	done := false
	run := func() {
		if !done {
			done = true
			finite.Evidence = p.follow(f, all)
		}
	}
	for _, w := range all {
		p.settle(w.it, func() Evidence { run(); return w.verdict() })
	}
	p.settle(finite, func() Evidence { run(); return finite.Evidence })
}

// watch lists the invariants of a rule's pages and its declared sets.
func (p *prover) watch() []*watched {
	var out []*watched
	add := func(w *watched) {
		w.probe.Name = fmt.Sprintf("watch%d", len(out))
		out = append(out, w)
	}
	for i, inv := range p.blk.Invariants {
		for _, x := range p.relations(inv, i) {
			w := newWatched(x.it, irbuild.Probe{Binders: inv.Binders, Left: x.X, Right: x.Y}, x.Op, nil)
			w.page = p.otherwise(inv.Span, inv.When)
			if w.page != nil && !p.buildable(w.probe) {
				w.it.Evidence = elsewhere(w.page)
				p.add(w.it)
				continue
			}
			add(w)
		}
	}
	for _, s := range p.blk.SymSeq {
		if s.Type == nil || s.Kind != check.State && s.Kind != check.Defined || !restricted(s.Type) {
			continue
		}
		name := notation.Word{Span: s.Span, Text: s.Name + "_" + p.blk.Time}
		add(newWatched(Item{Kind: Domain, Name: ident.ASCII(s.Name), Text: s.Name + " ∈ " + notation.Print(s.Type, notation.Unicode), Span: s.Span},
			irbuild.Probe{Left: &notation.Ident{Span: s.Span, Name: name}}, "", s.Type))
	}
	return out
}

// buildable reports whether a probe means something in this unit.
func (p *prover) buildable(x irbuild.Probe) bool {
	var quiet diag.List
	x.Name = "tried"
	return irbuild.Probed(p.blk, []irbuild.Probe{x}, &quiet) != nil && !quiet.HasErrors()
}

func isComparison(op string) bool {
	switch op {
	case "=", "<", "≤", ">", "≥":
		return true
	}
	return false
}

func restricted(t *notation.Type) bool {
	switch t.Kind {
	case notation.RangeType:
		return t.Lo != nil || t.Hi != nil
	case notation.SphereType, notation.SimplexType:
		return true
	}
	return false
}

func invariantName(inv *notation.Invariant, i int) string {
	if inv.Tag != nil {
		return inv.Tag.Text
	}
	return fmt.Sprintf("invariant%d", i+1)
}

// A relation of an invariant, with its item.
type stated struct {
	*notation.Relation
	it Item
}

// relations lists what invariant i states: a chain a ≤ b < c and a row of conditions
// state several things, and each is decided by itself. Of one that states anything
// else than comparisons nothing is listed.
func (p *prover) relations(inv *notation.Invariant, i int) []stated {
	var out []stated
	name := invariantName(inv, i)
	for _, c := range conjuncts(inv.Cond) {
		r, ok := c.(*notation.Relation)
		if !ok || !isComparison(r.Op) {
			p.add(Item{Kind: Invariant, Name: name, Span: inv.Span, Evidence: failed("no comparison")})
			p.ds.Errorf(diag.NotProvable, c.Where(), "an invariant compares two numbers").Hint("use =, <, ≤, > or ≥")
			return nil
		}
		alone := *inv
		alone.Cond = r
		out = append(out, stated{r, Item{Kind: Invariant, Name: fmt.Sprintf("%s.%d", name, len(out)+1), Text: notation.Print(&alone, notation.Unicode), Span: inv.Span}})
	}
	if len(out) == 1 {
		out[0].it.Name = name
	}
	return out
}

func conjuncts(c notation.Expr) []notation.Expr {
	if a, ok := c.(*notation.And); ok {
		return append(conjuncts(a.X), conjuncts(a.Y)...)
	}
	return []notation.Expr{c}
}

// follow runs trajectories and gathers the largest violation of each item.
func (p *prover) follow(f *ir.Func, all []*watched) Evidence {
	ev := Evidence{Verdict: Tested}
	chunks, length := quickChunks, quickChunk
	if p.opt.Deep {
		chunks, length = deepChunks, deepChunk
	}
	sets := sizeSets(p.blk, false, f)
	for i, sizes := range sets {
		sizes[tokens] = length
		prog := interp.Compile(f)
		draw := newSampler(p.blk, irbuild.Frees(p.blk, f), sizes, forTrajectory, i)
		params := p.startValues(f, draw)
		for _, w := range all {
			p.firstAt(w, params[w.it.Name], sizes)
		}
		for c := range chunks {
			for _, v := range f.Params {
				if v.Role == ir.Input && c > 0 {
					params[v.Name] = draw.draw(v)
				}
			}
			out := prog.Run(sizes, params)
			for _, w := range all {
				p.watchAt(w, out, sizes, c*length)
			}
			for _, r := range f.Results {
				if !finite(out[r.Name]) && ev.Verdict != Failed {
					p.ds.Errorf(diag.NotFinite, p.unit.Name.Span, "%s of %s is not finite after at most %d tokens from its own start", r.Name, p.unit.Name.Text, (c+1)*length).
						Labelf("at %s", spelled(sizes)).Hint("normalise the keys, or lower the rate that it starts from")
					ev = failed("not finite")
				}
				if r.State {
					params[r.Name] = out[r.Name]
				}
			}
			ev.Points += length * sizes[lanes]
			p.advance(f, params, length)
		}
	}
	sets[0][tokens] = quickChunk
	p.followHard(f, all, sets[0])
	return ev
}

// advance moves the count of the context's tokens.
func (p *prover) advance(f *ir.Func, params tensors, by int) {
	for _, v := range f.Params {
		if v.Elem == ir.Int && v.Role == ir.State && base(v.Name) == "pos" {
			for i := range params[v.Name].Data {
				params[v.Name].Data[i] += float64(by)
			}
		}
	}
}

// watchAt looks at one item over one chunk; before is the number of tokens before.
func (p *prover) watchAt(w *watched, out tensors, sizes map[string]int, before int) {
	shape, n := w.entries(out)
	for i := range n {
		if !w.inside(out, i, n) {
			continue
		}
		w.ev.Points++
		v, end, text := w.violation(out, i)
		token := afterToken(before, shape, i)
		if v <= w.tolerance() && (!end || w.ev.Verdict == Proved) {
			w.ev.Worst = math.Max(w.ev.Worst, v)
			w.nearAt(out, i, token, sizes)
			continue
		}
		p.leaves(w, token, text, sizes)
		return
	}
}

// entries are the shape of the larger side and how many entries it has.
func (w *watched) entries(out tensors) (shape []int, n int) {
	return larger(out[w.probe.Name], out[w.probe.RightName()])
}

// inside reports whether the conditions of an invariant hold at entry i of n.
func (w *watched) inside(out tensors, i, n int) bool {
	in := out[w.probe.InsideName()]
	return in == nil || broadcast(in.Data, i, n) != 0
}

// larger are the shape and the number of entries of the side that is an array: the
// other one may be a number, or missing.
func larger(left, right *interp.Tensor) (shape []int, n int) {
	if right != nil && len(right.Shape) > len(left.Shape) {
		left = right
	}
	return left.Shape, len(left.Data)
}

// broadcast is entry i of n of a side: a number at each token stands for all entries there.
func broadcast[N any](side []N, i, n int) N { return side[i*len(side)/n] }

// afterToken is the token of entry i of a probe, counted from the start.
func afterToken(before int, shape []int, i int) string {
	return fmt.Sprintf("after token %d", before+index(shape, i)[1]+1)
}

// violation is by how much an item fails at entry i, whether it lies at an end that
// does not belong to it, and how.
func (w *watched) violation(out tensors, i int) (by float64, end bool, text string) {
	if w.set != nil {
		return outside(w.set, out[w.probe.Name], i)
	}
	a, b := w.sides(out, i)
	by, end = relative(w.op, a, b, a-b)
	return by, end, notHolding(w.op, a, b)
}

// sides are the numbers that are compared at entry i.
func (w *watched) sides(out tensors, i int) (a, b float64) {
	_, n := w.entries(out)
	return broadcast(out[w.probe.Name].Data, i, n), broadcast(out[w.probe.RightName()].Data, i, n)
}

// relative is by how much a comparison fails, by the size of its sides, which differ by
// d, and whether they are equal where they must not be.
func relative(op string, a, b, d float64) (by float64, end bool) {
	return violated(op, d) / math.Max(1, math.Max(math.Abs(a), math.Abs(b))), d == 0 && (op == "<" || op == ">")
}

func notHolding(op string, a, b float64) string {
	return fmt.Sprintf("%.12g %s %.12g does not hold", a, op, b)
}

// nearAt notes how close an item came to failing at entry i.
func (w *watched) nearAt(out tensors, i int, when string, sizes map[string]int) {
	if w.set == nil {
		x, y := w.sides(out, i)
		w.near(x, y, when, sizes)
	} else if w.set.Kind == notation.RangeType {
		x, iv := out[w.probe.Name].Data[i], declaredInterval(w.set)
		w.closer(math.Min(x-iv.lo, iv.hi-x), fmt.Sprintf("%.6g", x), when, sizes)
	}
}

// near is nearAt for two sides, between which an inequality has room.
func (w *watched) near(x, y float64, when string, sizes map[string]int) {
	if w.op != "=" {
		w.closer(math.Abs(x-y), fmt.Sprintf("%.6g %s %.6g", x, w.op, y), when, sizes)
	}
}

func (w *watched) closer(gap float64, text, when string, sizes map[string]int) {
	if gap < w.closest {
		w.closest, w.call = gap, strings.TrimSpace(text+" "+when)+" at "+spelled(sizes)
	}
}

// verdict is what is known of an item.
func (w *watched) verdict() Evidence {
	switch {
	case w.ev.Verdict == Proved:
		w.ev.Points = 0 // what is proved was looked at there as well, and that adds nothing
	case w.ev.Verdict == Tested && w.call != "":
		w.ev.Note = fmt.Sprintf("closest by %.2g: %s", math.Max(0, w.closest), w.call)
	}
	return w.ev
}

// firstAt looks at what a context of an item's state begins with.
func (p *prover) firstAt(w *watched, first *interp.Tensor, sizes map[string]int) {
	if w.set == nil || first == nil {
		return
	}
	for i := range first.Data {
		if v, end, text := outside(w.set, first, i); !(v <= w.tolerance()) || end {
			p.leaves(w, "before the first token", text, sizes)
			return
		}
	}
}

// leaves reports the first violation of an item.
func (p *prover) leaves(w *watched, when, text string, sizes map[string]int) {
	if w.bad != "" {
		return
	}
	w.bad = text
	if w.page != nil {
		w.ev = elsewhere(w.page)
		return
	}
	code := diag.InvariantFails
	if w.set != nil {
		code = diag.OutOfDomain
	}
	p.ds.Errorf(code, w.it.Span, "%s: %s, %s", w.it.Text, when, text).Labelf("at %s", spelled(sizes)).
		See(p.unit.Name.Span, "in %s", p.unit.Name.Text)
	w.ev = failed(text)
}

// violated is by how much a comparison fails whose sides differ by d.
func violated(op string, d float64) float64 {
	switch op {
	case "<", "≤":
		return math.Max(0, d)
	case ">", "≥":
		return math.Max(0, -d)
	}
	return math.Abs(d)
}

func nan(a, b float64) float64 { return 0 * a * b }
