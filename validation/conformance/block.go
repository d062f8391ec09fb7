package conformance

import (
	"fmt"
	"testing"

	"github.com/nl-hecate/hecate/runtime/block"
)

// A Block is the table of a generated test of a rule or composition.
type Block struct {
	Name    string // of the page's unit, with its parts
	F64     func(Sizes) (block.Block[float64], error)
	F32     func(Sizes) (block.Block[float32], error)
	Sizes   []Sizes  // the first is the one for tests of one size
	Tokens  [][]int  // in step with Sizes
	Causal  bool     // the page provides it
	Carries bool     // no result depends on how the tokens are cut into calls
	Frozen  []string // states that a frozen read does not write
	Mixed   bool     // an answer reads states both before their write and after it
	Starts  bool     // first states are learned: a new context has no memory of its own
	Order   int      // degree in the sizes of what a token takes, where it is above 2
	Windows bool     // it is a rule: what it looks back at does not depend on what is frozen
	Gates   []string // parameters with a stopped value after them: their gradient is not a derivative
	Vectors string   // file of the interpreter's vectors
}

// Test runs all checks.
func (b Block) Test(t *testing.T) {
	u := unit{sizes: b.Sizes, tokens: b.Tokens, order: b.Order, vectors: b.Vectors, declared: b.Gates,
		f64: func(t testing.TB, z Sizes) subject[float64] { return blockSubject(made(t, z, b.F64), false) },
		f32: func(t testing.TB, z Sizes) subject[float32] { return blockSubject(made(t, z, b.F32), false) }}
	u.common(t, "y", b.Causal, b.Carries)
	t.Run("input", func(t *testing.T) { badBlock(t, b) })
	if len(b.Frozen) > 0 {
		t.Run("frozen", func(t *testing.T) { frozen(t, b) })
		t.Run("class2/frozen", func(t *testing.T) {
			u.f64 = func(t testing.TB, z Sizes) subject[float64] { return blockSubject(made(t, z, b.F64), true) }
			class2(t, u)
		})
		if b.Windows {
			t.Run("frozen/tails", func(t *testing.T) { sameTails(t, b) })
		}
		if b.Carries {
			t.Run("chunks/frozen", func(t *testing.T) {
				chunks(t, u, "y")
			})
		}
		t.Run("steady/frozen", func(t *testing.T) {
			steadyUnit(t, u, func(t testing.TB, z Sizes) subject[float32] { return blockSubject(made(t, z, b.F32), true) })
		})
	}
}

// A unit is what the checks common to blocks and models need.
type unit struct {
	sizes   []Sizes
	tokens  [][]int
	order   int
	vectors string
	f64     func(t testing.TB, z Sizes) subject[float64]
	f32     func(t testing.TB, z Sizes) subject[float32]

	declared []string // parameters whose gradient is not a derivative
}

// common runs the checks of blocks and models. The output is the one that has
// tokens.
func (u unit) common(t *testing.T, output string, isCausal, carries bool) {
	t.Run("class2", func(t *testing.T) { class2(t, u) })
	t.Run("class3", func(t *testing.T) { class3(t, u) })
	t.Run("float32", func(t *testing.T) { single(t, u) })
	t.Run("levels", func(t *testing.T) { levels(t, u) })
	t.Run("tape", func(t *testing.T) { withAndWithout(t, u) })
	t.Run("batch", func(t *testing.T) { oneByOne(t, u) })
	t.Run("alive", func(t *testing.T) { alive(t, u) })
	t.Run("steady", func(t *testing.T) {
		steadyUnit(t, u, u.f64)
		steadyUnit(t, u, u.f32)
	})
	if isCausal {
		t.Run("causal", func(t *testing.T) { causal(t, u, output) })
	}
	if carries {
		t.Run("chunks", func(t *testing.T) { chunks(t, u, output) })
	} else {
		t.Run("cuts", func(t *testing.T) { cuts(t, u, output) })
	}
}

const batch = 2 // of most cases: enough to see one leak into another

// eachSize calls f for every size and number of tokens.
func eachSize(t *testing.T, sizes []Sizes, tokens [][]int, f func(t *testing.T, z Sizes, seed uint64)) {
	t.Helper()
	for i, z := range sizes {
		for _, steps := range tokens[i] {
			f(t, z.with(Sizes{"L": batch, "T": steps}), uint64(10*i+steps))
		}
	}
}

// longest is the case of the first sizes with the most tokens.
func longest(sizes []Sizes, tokens [][]int) Sizes {
	most := 2
	for _, n := range tokens[0] {
		most = max(most, n)
	}
	return sizes[0].with(Sizes{"L": batch, "T": most})
}

// made builds a subject or ends the test.
func made[B any](t testing.TB, z Sizes, build func(Sizes) (B, error)) B {
	t.Helper()
	b, err := build(z)
	if err != nil {
		t.Fatalf("%v: %v", z, err)
	}
	return b
}

// label names a case.
func label(z Sizes) string { return fmt.Sprint(map[string]int(z)) }
