package zero

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/generated/compositions/fullattention"
	"github.com/nl-hecate/hecate/generated/compositions/slidingwindow"
	"github.com/nl-hecate/hecate/generated/rules/deltaunbounded"
	"github.com/nl-hecate/hecate/generated/rules/hebbian"
	"github.com/nl-hecate/hecate/generated/rules/titanslmm"
)

// setting are the tensors of a case that are no inputs.
var setting = map[string]bool{"w": true, "wM": true, "wS": true, "loss": true, "theta_max": true, "heads": true, "window": true}

// inputs names the oracle's inputs of a case as the pages do.
func inputs(ref reference, renamed map[string]string) map[string]string {
	out := map[string]string{}
	for _, name := range ref.names("") {
		switch {
		case setting[name], strings.HasPrefix(name, "out."), strings.HasPrefix(name, "grad."):
		case renamed[name] != "":
			out[name] = renamed[name]
		default:
			out[name] = name
		}
	}
	return out
}

// present drops the results that the oracle's case does not have.
func present(ref reference, outs map[string]string) map[string]string {
	for result, name := range outs {
		if !ref.has(name) {
			delete(outs, result)
		}
	}
	return outs
}

var ruleNames = map[string]string{"M0": "M", "S0": "S", "tail_k": "k0.tail", "tail_q": "q0.tail"}

// A pair makes a call of a forward kernel and one of its backward, and both of the
// function that computes what they read.
type pair func() (fwd, bwd, front, frontBack any)

func delta() (fwd, bwd, front, frontBack any) {
	return &deltaunbounded.Step[float64]{}, &deltaunbounded.StepBackward[float64]{}, &deltaunbounded.StepFront[float64]{}, &deltaunbounded.StepFrontBackward[float64]{}
}

func deltaRead() (fwd, bwd, front, frontBack any) {
	return &deltaunbounded.Read[float64]{}, &deltaunbounded.ReadBackward[float64]{}, &deltaunbounded.ReadFront[float64]{}, &deltaunbounded.ReadFrontBackward[float64]{}
}

func titans() (fwd, bwd, front, frontBack any) {
	return &titanslmm.Step[float64]{}, &titanslmm.StepBackward[float64]{}, &titanslmm.StepFront[float64]{}, &titanslmm.StepFrontBackward[float64]{}
}

func titansRead() (fwd, bwd, front, frontBack any) {
	return &titanslmm.Read[float64]{}, &titanslmm.ReadBackward[float64]{}, &titanslmm.ReadFront[float64]{}, &titanslmm.ReadFrontBackward[float64]{}
}

func hebb() (fwd, bwd, front, frontBack any) {
	return &hebbian.Step[float64]{}, &hebbian.StepBackward[float64]{}, &hebbian.StepFront[float64]{}, &hebbian.StepFrontBackward[float64]{}
}

func hebbRead() (fwd, bwd, front, frontBack any) {
	return &hebbian.Read[float64]{}, &hebbian.ReadBackward[float64]{}, &hebbian.ReadFront[float64]{}, &hebbian.ReadFrontBackward[float64]{}
}

// TestRules holds the three rules to the oracle: outputs, memory and tails
// after the call, every gradient of every parameter, of the input, and of the
// memory and tails before it. (case2 has a bound on the rate that no page of
// the tree has; a test of gen compiles one.)
func TestRules(t *testing.T) {
	for _, c := range []struct {
		file, name string
		make       pair
	}{
		{"delta_rule", "case0", delta}, {"delta_rule", "case1", delta}, {"delta_rule", "case3", delta}, {"delta_rule", "frozen", deltaRead},
		{"titans_lmm", "case0", titans}, {"titans_lmm", "case1", titans}, {"titans_lmm", "case3", titans}, {"titans_lmm", "frozen", titansRead},
		{"hebbian", "case0", hebb}, {"hebbian", "case1", hebb}, {"hebbian", "frozen", hebbRead},
	} {
		for _, segment := range []int{1, 2, 64} {
			t.Run(c.file+"/"+c.name, func(t *testing.T) { rule(t, open(t, c.file).under(c.name), c.make, segment) })
		}
	}
}

func rule(t *testing.T, ref reference, kernels pair, segment int) {
	x := ref.get("x").Shape
	sizes := map[string]int{"L": x[0], "T": x[1], "D": x[2], "DK": 4, "DV": 3, "C": segment}
	bars := map[string]string{"y": "w", "k0.tail": "", "q0.tail": ""}
	for state, weights := range map[string]string{"M": "wM", "S": "wS"} {
		if ref.has(weights) {
			bars[state] = weights
		}
	}
	fwd, bwd, front, frontBack := kernels()
	in := inputs(ref, ruleNames)
	var idle []string
	if !ref.has("W_K") {
		idle = []string{"W_K", "k0.tail"}
	}
	if !newKernel(fwd, sizes).has("Pos") && !newKernel(front, sizes).has("Pos") {
		delete(in, "pos")
	}
	outs := map[string]string{"y": "out.y", "M": "out.M_T", "S": "out.S_T", "k0.tail": "out.tail_k_T", "q0.tail": "out.tail_q_T"}
	pass{t: t, ref: ref, fwd: fwd, bwd: bwd, front: front, frontBack: frontBack, sizes: sizes, in: in, idle: idle, bars: bars, outs: present(ref, outs)}.compare()
}

var attentionNames = map[string]string{"x": "X", "tail_k": "k.tail", "tail_v": "v.tail"}

// TestAttention holds both attentions to the oracle. Full attention over seven
// tokens is also a window of eight.
func TestAttention(t *testing.T) {
	for _, name := range []string{"case0", "case1", "case2", "case3", "case4", "full0", "full1"} {
		t.Run(name, func(t *testing.T) {
			ref := open(t, "attention").under(name)
			x, h := ref.get("x").Shape, int(ref.get("heads").Ints[0])
			w, persistent := int(ref.get("window").Ints[0]), 0
			if ref.has("P") {
				persistent = ref.get("P").Shape[0]
			}
			fwd, bwd := any(&slidingwindow.Out[float64]{}), any(&slidingwindow.OutBackward[float64]{})
			if w == 0 && persistent == 0 {
				fwd, bwd = &fullattention.Out[float64]{}, &fullattention.OutBackward[float64]{}
			} else if w == 0 {
				w = x[1] + 1
			}
			outs := map[string]string{"out": "out.y", "k.tail": "out.tail_k_T", "v.tail": "out.tail_v_T"}
			pass{t: t, ref: ref, fwd: fwd, bwd: bwd, in: inputs(ref, attentionNames),
				sizes: map[string]int{"L": x[0], "T": x[1], "H": h, "DH": x[2] / h, "NP": persistent, "W": w},
				bars:  map[string]string{"out": "w", "k.tail": "", "v.tail": ""},
				outs:  present(ref, outs)}.compare()
		})
	}
}
