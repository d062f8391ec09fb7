package protocol

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/formula"
)

// A composition is the formula around the memory. In its formula M is the memory,
// and N as many networks as there are levels.
type composition struct{ name, formula string }

var compositions = []composition{
	{"MAG", "ByteLM(MAG(M, SlidingWindow))"},
	{"MAL", "ByteLM(MAL(M, SlidingWindow))"},
	{"MAGResidual", "ByteLM(MAGResidual(M, SlidingWindow))"},
	{"MAC", "ByteLM(MAC(M))"},
	{"HOPE", "ByteLM(HOPE(M, [N]))"},
	{"PreNorm", "ByteLM(PreNorm(MAG(M, SlidingWindow)))"},
	{"MACNormed", "ByteLM(MAC(Normed(M)))"},
	{"Stack", "StackLM([PreNorm(MAG(M, SlidingWindow)), PreNorm(MAG(M, SlidingWindow))])"},
}

var schedules = []string{"CMS", "CMSIndependent", "CMSSequential", "CMSHybrid", "CMSGated"}

// gated is the schedule whose levels a gate opens; no pulse says anything to it.
const gated = "CMSGated"

// A scenario is a model with the levels that are active.
type scenario struct {
	composition int
	schedule    string // "": the rule itself, without a schedule
	rule        int    // of the first level; of the others those some places on
	levels      int
	mask        uint8 // bit l: level l is active
}

// ruleStride is between the rules of neighbouring levels: each rule is at
// each level of some model.
const ruleStride = 7

// members are the rules of n levels from the one of a number.
func members(first, n int) []string {
	all := registry.Rules()
	var out []string
	for l := range n {
		out = append(out, all[(first+l*ruleStride)%len(all)])
	}
	return out
}

// again reports whether the composition asks its memory about what the memory said.
func (x scenario) again() bool { return strings.Contains(compositions[x.composition].formula, "MAC(") }

// memory is the formula in the place of the memory.
func (x scenario) memory() string {
	list := "[" + strings.Join(members(x.rule, x.levels), ", ") + "]"
	switch x.schedule {
	case "":
		return members(x.rule, 1)[0]
	case "CMSHybrid":
		return fmt.Sprintf("CMSHybrid(%s, [%s])", list, strings.Join(members(x.rule+3, min(2, x.levels)), ", "))
	}
	return x.schedule + "(" + list + ")"
}

// formula is that of the model.
func (x scenario) formula() string {
	nets := "[" + strings.Repeat("ResidualMLP, ", x.levels-1) + "ResidualMLP]"
	memory := x.memory()
	return strings.NewReplacer("(M,", "("+memory+",", "(M)", "("+memory+")", "[N]", nets).Replace(compositions[x.composition].formula)
}

func (x scenario) String() string {
	return fmt.Sprintf("%s/mask %0*b", x.formula(), x.levels, x.mask)
}

// closed reports whether a level is frozen.
func (x scenario) closed(level int) bool { return x.mask>>level&1 == 0 }

// all is the mask of n active levels.
func all(n int) uint8 { return 1<<n - 1 }

// masks are those of n levels in which the first one is active.
func masks(n int) []uint8 {
	var out []uint8
	for m := uint8(1); m <= all(n); m += 2 {
		out = append(out, m)
	}
	return out
}

// A setting is a schedule with a number of levels and a mask.
type setting struct {
	schedule string
	levels   int
	mask     uint8
}

// settings are all of them; the first is a rule without a schedule.
func settings() []setting {
	out := []setting{{"", 1, 1}}
	for _, s := range schedules {
		for _, k := range []int{1, 2, 4} {
			for _, m := range masks(k) {
				out = append(out, setting{s, k, m})
			}
		}
	}
	return out
}

// full reports whether the whole product was asked for.
func full() bool { return os.Getenv("HECATE_PROTOCOL") == "full" }

// settingStride is between the settings of a rule in neighbouring compositions.
const settingStride = 13

// scenarios are the whole product, or by default each rule in each composition once,
// the settings in turn: there are more pairs than settings, so each occurs.
func scenarios() []scenario {
	var out []scenario
	turn := settings()
	for c := range compositions {
		for r := range registry.Rules() {
			if !full() {
				n := turn[(r+settingStride*c)%len(turn)]
				out = append(out, scenario{c, n.schedule, r, n.levels, n.mask})
				continue
			}
			for _, n := range turn {
				out = append(out, scenario{c, n.schedule, r, n.levels, n.mask})
			}
		}
	}
	return out
}

// every n-th scenario, for checks that cost more than a call.
func every(n int, of []scenario) []scenario {
	var out []scenario
	for i, x := range of {
		if i%n == 0 || full() {
			out = append(out, x)
		}
	}
	return out
}

// A dimensions table holds the sizes of a model by the names that its constructor
// reads, and by those of the program with its parts inlined.
type dimensions struct{ emit, program map[string]int }

// small are sizes for float64: each as small as it can be without being the size of
// something else, the width even in one half of the scenarios and odd in the other, for
// kernels take rows by twos and fours, and what is left over. Each rule meets both.
func small(x scenario) map[string]int {
	z := map[string]int{"V": 7, "d": 4, "H": 2, "n_p": 1, "w": 3, "d_k": 3, "d_h": 3, "m": 3, "d_v": 2, "d_c": 3, "n_phi": 1, "heads": 2, "N": 2}
	if (x.rule+x.composition)%2 == 1 {
		z["d"], z["H"], z["d_k"], z["d_h"], z["heads"] = 5, 1, 2, 4, 5
	}
	return z
}

// wide are sizes on both sides of a vector.
var wide = map[string]int{"V": 19, "d": 20, "H": 2, "n_p": 1, "w": 5, "d_k": 18, "d_h": 17, "m": 5, "d_v": 9, "d_c": 6, "n_phi": 2, "heads": 4, "N": 3}

// sizesOf gives every size of a formula that a page leaves open.
func sizesOf(t testing.TB, text string, of map[string]int) dimensions {
	t.Helper()
	z := dimensions{map[string]int{}, map[string]int{}}
	z.node(bound(t, text), of, "", "")
	return z
}

func bound(t testing.TB, text string) *formula.Node {
	t.Helper()
	f, err := formula.Parse(text)
	if err == nil {
		var n *formula.Node
		if n, err = registry.Pages().Bind(f, formula.Model); err == nil {
			return n
		}
	}
	t.Fatal(err)
	return nil
}

func (z dimensions) node(n *formula.Node, of map[string]int, emit, program string) {
	for _, s := range n.Page.Sizes {
		size, ok := of[s]
		if !ok {
			panic("protocol: no value for the size " + s + " of " + n.Name)
		}
		z.emit[emit+s], z.program[program+s] = size, size
	}
	for i, p := range n.Page.Parts {
		for k, m := range n.Parts[i] {
			name := p.Name + "."
			if p.List {
				name = fmt.Sprintf("%s.%d.", p.Name, k)
			}
			inside := emit + name
			if p.Bare {
				inside = emit
			}
			z.node(m, of, inside, program+name)
		}
	}
}

// TestScenarios holds the default to what it claims: every rule in every composition,
// every schedule of every number of levels under every mask, every rule active and
// frozen.
func TestScenarios(t *testing.T) {
	pairs, seen := map[[2]int]bool{}, map[setting]bool{}
	active, frozen := map[string]bool{}, map[string]bool{}
	for _, x := range scenarios() {
		pairs[[2]int{x.composition, x.rule}] = true
		seen[setting{x.schedule, x.levels, x.mask}] = true
		for l, r := range members(x.rule, x.levels) {
			active[r] = active[r] || !x.closed(l)
			frozen[r] = frozen[r] || x.closed(l)
		}
	}
	if want := len(compositions) * len(registry.Rules()); len(pairs) != want {
		t.Errorf("%d pairs of a composition and a rule, want %d", len(pairs), want)
	}
	for _, s := range settings() {
		if !seen[s] {
			t.Errorf("no scenario of %v", s)
		}
	}
	for _, r := range registry.Rules() {
		if !active[r] || !frozen[r] {
			t.Errorf("%s: active %v, frozen %v, want both", r, active[r], frozen[r])
		}
	}
	if slices.Contains(registry.Rules(), "") {
		t.Error("a rule without a name")
	}
}
