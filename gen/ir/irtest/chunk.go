package irtest

import (
	"embed"

	"github.com/nl-hecate/hecate/gen/ir"
)

//go:embed testdata
var programs embed.FS

// program reads a program of the folder testdata.
func program(name string) *ir.Func {
	text, err := programs.ReadFile("testdata/" + name + ".ir")
	if err != nil {
		panic("irtest: BUG: " + err.Error())
	}
	return MustParse(string(text))
}

// Triangular returns a program of triangular systems: a batch of them with
// columns, from the first row on, and one of a single column from the last row
// on, whose matrix is read backward along one of its axes only.
func Triangular() *ir.Func { return program("triangular") }

// Chunk returns the exact chunk form of the delta rule
//
//	M_t = ρ_t M_{t−1} − θ_t (M_{t−1} k_t − v_t) k_tᵀ    y_t = M_t q_t
//
// with the products of its gates given: T chunks of C tokens, one after another.
// With g_t = Π_{j≤t} ρ_j inside a chunk, D[t,i] = g_{t−1}/g_i for i < t and
// Gm[t,i] = g_t/g_i for i ≤ t, both 0 elsewhere; gp[t] = g_{t−1}, gam[i] = g_C/g_i.
func Chunk() *ir.Func { return program("chunk") }

// Momentum returns the exact chunk form of the same rule with a momentum,
//
//	S_t = η_t S_{t−1} − θ_t (M_{t−1} k_t − v_t) k_tᵀ    M_t = ρ_t M_{t−1} + S_t
//
// its tables given: two states, each of which the tokens of a chunk write.
func Momentum() *ir.Func { return program("momentum") }

// Linear returns the chunk form of linear attention with a gate: products of
// matrices and no system.
func Linear() *ir.Func { return program("linear") }
