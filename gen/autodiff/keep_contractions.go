package autodiff

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// Selective checkpointing of recurrences: which values of a step the forward
// saves for every token, so that the backward replays the states without the
// expensive part of the step.

// keepContractions lets every forward scan save, token by token, small values
// that its backward would otherwise recompute from the state: the errors M k −
// v of a memory rule. A value counts when it takes a pass over a state (a
// contraction or a normalisation) or a root finding, and has fewer axes than
// the largest state. Of a chain of such values only those are kept that an
// adjoint, a value as large as the state or a condition of these reads, and every
// root. A step over a chunk of tokens keeps such values of the whole chunk, so that
// its backward multiplies no matrices twice.
func keepContractions(f *ir.Func) {
	for _, in := range f.Body {
		if in.Scan != nil && in.Scan.Reverse && slices.Contains(f.Body, in.Scan.Primal) {
			k := newKeeper(in.Scan)
			for _, v := range k.chooseSaved() {
				k.save(f, v)
			}
		}
	}
}

// A keeper chooses for one backward scan.
type keeper struct {
	back   *ir.Scan
	rank   int
	chunks []*ir.Axis         // the step takes several tokens at once along these
	primal map[*ir.Value]bool // values of the backward body that no adjoint reaches
	clone  *ir.Cloner         // into the primal's body
	values *simplify.Values   // of the primal's body
	known  []*ir.Value        // what the primal's body computed at first
}

func newKeeper(back *ir.Scan) *keeper {
	k := &keeper{back: back, primal: map[*ir.Value]bool{}, chunks: back.Primal.Scan.ChunkAxes()}
	for _, c := range back.Primal.Scan.Carry {
		k.rank = max(k.rank, len(c.Param.Axes))
	}
	k.clone = ir.NewCloner(back.Primal.Scan.Body)
	k.values = simplify.NewValues(back.Primal.Scan.Body)
	for _, in := range back.Primal.Scan.Body.Body {
		if in.Scan == nil {
			k.known = append(k.known, in.Out)
		}
	}
	for _, r := range back.Replay {
		k.primal[r.Param] = true
		k.clone.Map[r.Param] = r.Primal
		k.values.Define(r.Param, r.Primal)
	}
	for _, in := range back.Body.Body {
		free := in.Scan == nil
		for _, v := range in.Reads() {
			free = free && k.primal[v]
		}
		for _, v := range in.Defines() {
			k.primal[v] = free
		}
	}
	return k
}

// small reports whether a value is smaller than a state: it has fewer axes, or
// belongs to a chunk, whose states are stored at each step.
func (k *keeper) small(v *ir.Value) bool {
	return len(v.Axes) < k.rank || slices.ContainsFunc(v.Axes, func(a *ir.Axis) bool { return slices.Contains(k.chunks, a) })
}

// chooseSaved lists the values to save, in the order of the body.
func (k *keeper) chooseSaved() []*ir.Value {
	outside := map[*ir.Value]bool{}
	for _, in := range k.back.Body.Body {
		if in.Scan != nil || !k.primal[in.Out] || !k.small(in.Out) {
			for _, v := range in.Reads() {
				outside[v] = true
			}
		}
	}
	for _, r := range k.back.Body.Results {
		outside[r.Val] = true
	}
	for _, in := range slices.Backward(k.back.Body.Body) {
		if in.Out != nil && outside[in.Out] && in.Out.Elem != ir.Real { // only numbers are saved
			for _, v := range in.Reads() {
				outside[v] = true
			}
		}
	}
	var out []*ir.Value
	expensive := map[*ir.Value]bool{}
	for _, in := range k.back.Body.Body {
		v := in.Out
		if v == nil || !k.primal[v] || !k.small(v) || v.Elem != ir.Real {
			continue
		}
		expensive[v] = reduces(in) && len(in.Loops) >= k.rank || in.Op == ir.SolveOp
		for _, x := range in.Reads() {
			expensive[v] = expensive[v] || expensive[x]
		}
		if expensive[v] && (outside[v] || in.Op == ir.SolveOp) {
			out, expensive[v] = append(out, v), false
		}
	}
	return out
}

// reduces reports whether an instruction has a reduction.
func reduces(in *ir.Instr) bool { return len(in.Loops) > len(in.Out.Axes) || len(in.Over) > 0 }

// save makes v an output of the primal scan that the backward reads.
func (k *keeper) save(f *ir.Func, v *ir.Value) {
	primal := k.back.Primal.Scan
	k.copy(v)
	name := v.Label()
	axes := append([]*ir.Axis{primal.Batch, primal.Time}, v.Axes...)
	out := &ir.Value{Name: f.Fresh(name), Elem: ir.Real, Axes: axes, Def: k.back.Primal}
	primal.Outs = append(primal.Outs, ir.ScanOutput{Val: k.clone.Value(v), Out: out})
	param := k.back.Body.AddParam(name, ir.Token, ir.Real, v.Axes...)
	v.Name, param.Name = param.Name, v.Name
	k.back.Tokens = append(k.back.Tokens, ir.ScanInput{Param: param, Val: out})
	k.back.ReplaceInBody(v, param)
	k.clone.Map[param] = k.clone.Value(v)
	k.values.Define(param, v)
}

// copy makes the primal's body compute v, unless it does.
func (k *keeper) copy(v *ir.Value) {
	if v.Def == nil || k.clone.Map[v] != nil {
		return
	}
	if same := k.same(v); same != nil {
		k.clone.Map[v] = same
		return
	}
	for _, x := range v.Def.Reads() {
		k.copy(x)
	}
	k.clone.Instr(v.Def)
}

// same is the value of the primal's body that equals v, or nil.
func (k *keeper) same(v *ir.Value) *ir.Value {
	if i := slices.IndexFunc(k.known, func(w *ir.Value) bool { return k.values.Equal(v, w) }); i >= 0 {
		return k.known[i]
	}
	return nil
}
