package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Links between the recurrences of a forward and those of its backward: which
// states the backward replays from checkpoints of the forward, and which saved
// series the replay reads.

// scanLinks are the links of a pair.
type scanLinks struct {
	forward bool // the forward is being lowered
	saved   []string
	pairs   []*scanLink
}

// A scanLink is a recurrence of the forward with its backward.
type scanLink struct {
	fwd, bwd int               // positions among the recurrences of each program
	chunks   bool              // a step of the forward takes several tokens
	saved    map[int]string    // instruction of the primal's body → parameter of the backward that holds its values
	states   map[string]string // carry of the body → checkpoint buffer
}

func (m *scanLinks) find(n int) *scanLink {
	if m == nil {
		return nil
	}
	for _, p := range m.pairs {
		if m.forward && p.fwd == n || !m.forward && p.bwd == n {
			return p
		}
	}
	return nil
}

func scansOf(f *ir.Func) []*ir.Instr {
	var out []*ir.Instr
	for _, in := range f.Body {
		if in.Scan != nil {
			out = append(out, in)
		}
	}
	return out
}

// match finds for every backward recurrence the forward one with the same
// step: equal states from equal parameters by name.
func match(p *ir.Pair) *scanLinks {
	m := &scanLinks{saved: p.Saved}
	taken := map[int]bool{}
	for b, back := range scansOf(p.Bwd) {
		if back.Scan.Primal == nil {
			continue
		}
		for f, fwd := range scansOf(p.Fwd) {
			if mark := matchStep(p, fwd.Scan, back.Scan.Primal.Scan); mark != nil && !taken[f] {
				taken[f] = true
				mark.fwd, mark.bwd = f, b
				m.pairs = append(m.pairs, mark)
				break
			}
		}
	}
	return m
}

// matchStep compares the step of a forward with the primal of a backward, and
// finds which of the primal's values the forward saves.
func matchStep(p *ir.Pair, fwd, primal *ir.Scan) *scanLink {
	n := newNumbering()
	for _, s := range []*ir.Scan{fwd, primal} {
		for _, q := range s.Body.Params {
			n.set(q, "param "+q.Name)
		}
		n.body(s.Body.Body)
	}
	for _, c := range primal.Carry {
		i := slices.IndexFunc(fwd.Carry, func(d ir.ScanState) bool { return d.Param.Name == c.Param.Name })
		if i < 0 || n.of[fwd.Carry[i].Next] != n.of[c.Next] || !sameInit(p, fwd.Carry[i], c) {
			return nil
		}
	}
	out := &scanLink{chunks: len(fwd.ChunkAxes()) > 0, saved: map[int]string{}, states: map[string]string{}}
	for _, o := range fwd.Outs {
		i := slices.IndexFunc(p.Fwd.Results, func(r ir.Result) bool { return r.Val == o.Out })
		if i < 0 || p.Bwd.Param(p.Fwd.Results[i].Name) == nil || o.Sum {
			continue
		}
		for k, in := range primal.Body.Body {
			if in.Out != nil && n.of[in.Out] == n.of[o.Val] {
				out.saved[k] = p.Fwd.Results[i].Name
			}
		}
	}
	return out
}

// sameInit compares the initial value of a forward's carry with the one that
// its backward has: by name, recomputed, or saved.
func sameInit(p *ir.Pair, a, b ir.ScanState) bool {
	if a.Init == nil || b.Init == nil {
		return a.Init == nil && b.Init == nil
	}
	return a.Init.Name == b.Init.Name || a.Init.Def != nil && (b.Init.Def != nil || p.Fwd.Result(b.Init.Name) == a.Init)
}
