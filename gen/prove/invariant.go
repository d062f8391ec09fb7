package prove

import (
	"fmt"
	"math"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Invariants are followed along trajectories: the rule runs from the values
// that its page starts it from, over random tokens, chunk after chunk, and
// after every token all sides are compared. Declared sets are invariants too:
// that of every gate, and that of every state. Whatever else is said, the
// numbers must stay numbers.

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
	ev    Evidence
	bad   string
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
	finite := Item{Kind: Domain, Name: "finite", Span: p.unit.Span, Text: "the output stays finite"}
	done := false
	run := func() {
		if !done {
			done = true
			finite.Evidence = p.follow(f, all)
		}
	}
	for _, w := range all {
		p.settle(w.it, func() Evidence { run(); return w.ev }, f, p.startText())
	}
	p.settle(finite, func() Evidence { run(); return finite.Evidence }, f, p.startText())
}

// watch lists the invariants of a rule's pages and its declared sets.
func (p *prover) watch() []*watched {
	var out []*watched
	add := func(w *watched) {
		w.probe.Name = fmt.Sprintf("watch%d", len(out))
		w.ev = Evidence{Verdict: Tested, Tolerance: invTol}
		out = append(out, w)
	}
	for i, inv := range p.blk.Invariants {
		r, ok := inv.Cond.(*notation.Relation)
		if !ok || !isComparison(r.Op) {
			p.noInvariant(inv)
			continue
		}
		add(&watched{it: Item{Kind: Invariant, Name: invariantName(inv, i), Text: notation.Print(inv, notation.Unicode), Span: inv.Span},
			probe: irbuild.Probe{Binders: inv.Binders, Left: r.X, Right: r.Y}, op: r.Op})
	}
	for _, s := range p.blk.SymSeq {
		if s.Type == nil || s.Kind != check.State && s.Kind != check.Defined || !restricted(s.Type) {
			continue
		}
		name := notation.Word{Span: s.Span, Text: s.Name + "_" + p.blk.Time}
		add(&watched{it: Item{Kind: Domain, Name: check.ID(s.Name), Text: s.Name + " ∈ " + notation.Print(s.Type, notation.Unicode), Span: s.Span},
			probe: irbuild.Probe{Left: &notation.Ident{Span: s.Span, Name: name}}, set: s.Type})
	}
	return out
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

func (p *prover) noInvariant(inv *notation.Invariant) {
	p.add(Item{Kind: Invariant, Name: invariantName(inv, 0), Span: inv.Span, Evidence: failed("no comparison")})
	p.ds.Errorf(diag.NotProvable, inv.Cond.Where(), "an invariant compares two numbers").Hint("use =, <, ≤, > or ≥")
}

// follow runs trajectories and gathers the largest violation of each item.
func (p *prover) follow(f *ir.Func, all []*watched) Evidence {
	ev := Evidence{Verdict: Tested}
	chunks, length := quickChunks, quickChunk
	if p.opt.Deep {
		chunks, length = deepChunks, deepChunk
	}
	for i, sizes := range sizeSets(false, f) {
		sizes[tokens] = length
		prog := interp.Compile(f)
		draw := newSampler(p.blk, irbuild.Frees(p.blk, f), sizes, "trajectory"+f.Name, i)
		params := p.startValues(f, draw)
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
	return ev
}

// advance moves the count of the context's tokens.
func (p *prover) advance(f *ir.Func, params map[string]*interp.Tensor, by int) {
	for _, v := range f.Params {
		if v.Elem == ir.Int && v.Role == ir.State && base(v.Name) == "pos" {
			for i := range params[v.Name].Data {
				params[v.Name].Data[i] += float64(by)
			}
		}
	}
}

// watchAt looks at one item over one chunk; at is the number of tokens before.
func (p *prover) watchAt(w *watched, out map[string]*interp.Tensor, sizes map[string]int, at int) {
	left := out[w.probe.Name]
	violation := func(i int) (float64, string) { return outside(w.set, left, i) }
	if w.set == nil {
		right := out[w.probe.RightName()]
		violation = func(i int) (float64, string) {
			a, b := left.Data[i], right.Data[i]
			return violated(w.op, a, b) / math.Max(1, math.Max(math.Abs(a), math.Abs(b))), fmt.Sprintf("%.12g %s %.12g does not hold", a, w.op, b)
		}
	}
	for i := range left.Data {
		w.ev.Points++
		v, text := violation(i)
		if v <= invTol {
			w.ev.Worst = math.Max(w.ev.Worst, v)
			continue
		}
		if w.bad != "" {
			return
		}
		w.bad = text
		code := diag.InvariantFails
		if w.set != nil {
			code = diag.OutOfDomain
		}
		p.ds.Errorf(code, w.it.Span, "%s: after token %d, %s", w.it.Text, at+index(left.Shape, i)[1]+1, text).Labelf("at %s", spelled(sizes)).
			See(p.unit.Name.Span, "in %s", p.unit.Name.Text)
		w.ev = failed(text)
		return
	}
}

// violated is by how much a comparison fails.
func violated(op string, a, b float64) float64 {
	switch op {
	case "<", "≤":
		return math.Max(0, a-b) + nan(a, b)
	case ">", "≥":
		return math.Max(0, b-a) + nan(a, b)
	}
	return math.Abs(a - b)
}

func nan(a, b float64) float64 { return 0 * a * b }

// outside is by how much entry i, or the row that it opens, leaves a set. Ends
// belong to it: rounding may reach them.
func outside(t *notation.Type, x *interp.Tensor, i int) (float64, string) {
	switch t.Kind {
	case notation.RangeType:
		v := x.Data[i]
		far := nan(v, v)
		if lo, ok := bound(t.Lo); ok {
			far += math.Max(0, lo-v)
		}
		if hi, ok := bound(t.Hi); ok {
			far += math.Max(0, v-hi)
		}
		return far, fmt.Sprintf("%.9g is outside", v)
	}
	n := x.Shape[len(x.Shape)-1]
	if i%n != 0 {
		return 0, ""
	}
	sum, low := 0.0, 0.0
	for _, v := range x.Data[i : i+n] {
		if t.Kind == notation.SphereType {
			sum += v * v
		} else {
			sum += v
			low = math.Max(low, -v)
		}
	}
	return math.Abs(sum-1) + low, fmt.Sprintf("a row has the sum %.12g", sum)
}

// stayOn follows the states of a rule from random members of a set.
func (p *prover) stayOn(kind notation.TypeKind, states []string) (Evidence, string) {
	ev := Evidence{Verdict: Tested, Tolerance: invTol}
	var ds diag.List
	f := irbuild.Rule(p.blk, &ds)
	set := &notation.Type{Kind: kind}
	for i, sizes := range sizeSets(p.opt.Deep, f) {
		draw := newSampler(p.blk, irbuild.Frees(p.blk, f), sizes, "stay"+f.Name, i)
		params := draw.params(f)
		p.startBlock(p.blk, "", f, draw, params)
		for step := 0; step <= quickChunks; step++ {
			for _, s := range states {
				x := params[s]
				for k := range x.Data {
					v, text := outside(set, x, k)
					ev.Points++
					if ev.Worst = math.Max(ev.Worst, v); !(v <= invTol) {
						return failed(fmt.Sprintf("leaves the set: %s after %d chunks", text, step)), s
					}
				}
			}
			for n, t := range interp.Run(f, sizes, params) {
				if r := resultNamed(f, n); r != nil && r.State {
					params[n] = t
				}
			}
		}
	}
	return ev, ""
}

func resultNamed(f *ir.Func, name string) *ir.Result {
	for i := range f.Results {
		if f.Results[i].Name == name {
			return &f.Results[i]
		}
	}
	return nil
}

// opInvariants tests what an operation says about its result.
func (p *prover) opInvariants() {
	for i, inv := range own(p, p.blk.Invariants) {
		r, ok := inv.Cond.(*notation.Relation)
		if !ok || !isComparison(r.Op) {
			p.noInvariant(inv)
			continue
		}
		it := Item{Kind: Invariant, Name: invariantName(inv, i), Text: notation.Print(inv, notation.Unicode), Span: inv.Span}
		var ds diag.List
		q := irbuild.Invariant(p.blk, irbuild.Probe{Name: it.Name, Binders: inv.Binders, Left: r.X, Right: r.Y}, &ds)
		p.ds.Append(ds)
		if q == nil {
			it.Evidence = failed("cannot be built")
			p.add(it)
			continue
		}
		p.settle(it, func() Evidence { return p.opInvariant(it, r, q) }, q.Func)
	}
}

func (p *prover) opInvariant(it Item, r *notation.Relation, q *irbuild.Equality) Evidence {
	if r.Op == "=" && equal(q.Func, irbuild.Left, irbuild.Right) {
		return Evidence{Verdict: Proved}
	}
	ev := Evidence{Verdict: Tested, Tolerance: invTol}
	for i, sizes := range sizeSets(p.opt.Deep, q.Func) {
		for k := range claimPoints {
			draw := newSampler(p.blk, q.Free, sizes, it.Text, i*1000+k)
			draw.edges = k%2 == 1
			out := interp.Run(q.Func, sizes, draw.params(q.Func))
			l, rt := out[irbuild.Left], out[irbuild.Right]
			for j := range l.Data {
				v := violated(r.Op, l.Data[j], rt.Data[j])
				ev.Points++
				if ev.Worst = math.Max(ev.Worst, v); !(v <= invTol) {
					p.ds.Errorf(diag.InvariantFails, r.Where(), "at %s, %.12g %s %.12g does not hold%s", spelled(sizes), l.Data[j], r.Op, rt.Data[j], at(index(l.Shape, j))).
						See(p.unit.Span, "of %s", p.unit.Name.Text)
					return failed("does not hold")
				}
			}
		}
	}
	return ev
}
