package sample

import (
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
)

// A Trajectory runs a rule chunk after chunk from its declared first values.
type Trajectory struct {
	prog   *interp.Program
	f      *ir.Func
	sizes  map[string]int
	Params numeric.Tensors // of the next chunk
}

// Trajectory starts a trajectory with drawn parameters and tokens.
func (s *Sampler) Trajectory(f *ir.Func) *Trajectory {
	return &Trajectory{prog: interp.Compile(f), f: f, sizes: s.Sizes, Params: s.StartValues(f)}
}

// DrawTokens replaces the inputs of the next chunk.
func (t *Trajectory) DrawTokens(s *Sampler) {
	for _, v := range t.f.Params {
		if v.Role == ir.Input {
			t.Params[v.Name] = s.Draw(v)
		}
	}
}

// Next runs one chunk, carries the states over and advances the position.
func (t *Trajectory) Next() numeric.Tensors {
	out := t.prog.Run(t.sizes, t.Params)
	for _, r := range t.f.Results {
		if r.State {
			t.Params[r.Name] = out[r.Name]
		}
	}
	for _, v := range t.f.Params {
		if v.IsPosition() {
			for i := range t.Params[v.Name].Data {
				t.Params[v.Name].Data[i] += float64(t.sizes[Tokens])
			}
		}
	}
	return out
}
