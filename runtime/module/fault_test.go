package module_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// clocked is an echo that notes when it is called.
type clocked struct {
	echo[float64]
	steps, positions *[]uint64
}

func (e clocked) Step(c block.Call[float64], w block.Weights[float64], m *block.Memory[float64], ids, next []int32) (loss, logits tape.Value[float64], err error) {
	*e.steps, *e.positions = append(*e.steps, c.Pulse.Step()), append(*e.positions, c.Pulse.Position())
	return e.echo.Step(c, w, m, ids, next)
}

// TestBadNumber breaks one number at a time and wants to be told which; nothing
// moves but what was broken.
//
//hecate:allow outerwrite a parameter is spoilt: that is the test
func TestBadNumber(t *testing.T) {
	const tokens = 4
	parameter := func(name string, at int, x float32) func(*module.Module[float32], []float32) {
		return func(m *module.Module[float32], _ []float32) {
			i, err := m.Params().Index(name)
			if err != nil {
				t.Fatal(err)
			}
			m.Params().Data(i)[at] = x
		}
	}
	inf := float32(math.Inf(1))
	for name, x := range map[string]struct {
		spoil func(m *module.Module[float32], state []float32)
		phase pulse.Phase
		want  module.BadNumber
		says  []string
	}{
		"parameter": {parameter("a", 0, inf), pulse.Build, module.BadNumber{What: "the loss", Slot: 0, Token: -1, Tensor: "a"},
			[]string{"the build has diverged at step 2: the loss is NaN", "tensor a[0], level 0, slot 0", "nothing was updated"}},
		"state": {func(_ *module.Module[float32], s []float32) { s[2] = inf }, pulse.Build,
			module.BadNumber{What: "the loss", Slot: 1, Token: -1, Equation: "module_test.echo", Tensor: "state s", Index: 2}, nil},
		// The chunk of slot 1 is 7 8 9 10 | 11 12 …: an embedding that overflows
		// what it is multiplied with is read at its third token.
		"overflow": {parameter("E", 3*9+1, 3e38), pulse.Build,
			module.BadNumber{What: "the loss", Slot: 1, Token: 2, Equation: "module_test.echo", Tensor: "Chance"},
			[]string{"module_test.echo, tensor Chance[", "level 0, slot 1, token 2 (it reads E, H, a)", "nothing was updated; try a lower learning rate", "θ_max"}},
		"without a tape": {parameter("E", 3*9+1, 3e38), pulse.Stream,
			module.BadNumber{What: "the loss", Slot: 1, Token: 2, Equation: "module_test.echo", Tensor: "Chance"}, nil},
	} {
		m := newModule[float32](t, 3)
		h := m.NewContext(2)
		chunk := func(from int32) stream.Chunk {
			c := stream.Chunk{Batch: 2, Tokens: tokens, Inputs: make([]int32, 2*tokens), Targets: make([]int32, 2*tokens)}
			for i := range c.Inputs {
				c.Inputs[i], c.Targets[i] = from+int32(i), from+int32(i)+1
			}
			return c
		}
		p := pulse.First(x.phase)
		_, h, err := m.Process(chunk(200), h, p)
		if err != nil {
			t.Fatal(err)
		}
		mem, _ := h.Take()
		mem.Each(func(name string, _ []int, data []float32) {
			if name == "lane1.s" {
				x.spoil(m, data)
			}
		})
		h, _ = h.Return(mem)
		before, hash := state(t, h), m.Params().Hash()
		p = p.Next(tokens)
		_, h, err = m.Process(chunk(3), h, p)
		var got *module.BadNumber
		if !errors.As(err, &got) || !errors.Is(err, module.ErrDiverged) {
			t.Fatalf("%s: %v", name, err)
		}
		if !math.IsNaN(got.Value) && !math.IsInf(got.Value, 0) {
			t.Errorf("%s: %v is a number", name, got.Value)
		}
		x.want.Value, x.want.Step = got.Value, 1
		if x.want.Token >= 0 && got.Index/stream.Vocab == x.want.Token {
			x.want.Index = got.Index // whichever logit it was
		}
		if x.want.Equation != "" && !slices.Equal(got.Reads, []string{"E", "H", "a"}) || !equal(*got, x.want) {
			t.Errorf("%s:\n%+v, want\n%+v", name, *got, x.want)
		}
		for _, s := range x.says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%s: %q does not say %q", name, err, s)
			}
		}
		sameStates(t, name, state(t, h), before)
		if _, err := m.Update(p); err != module.ErrGradient || m.Params().Hash() != hash {
			t.Errorf("%s: an update after it: %v", name, err)
		}
	}
}

func equal(a, b module.BadNumber) bool {
	a.Reads, b.Reads = nil, nil
	if math.IsNaN(a.Value) && math.IsNaN(b.Value) {
		a.Value, b.Value = 0, 0
	}
	return a.What == b.What && a.Value == b.Value && a.Step == b.Step && a.Slot == b.Slot && a.Level == b.Level && a.Token == b.Token &&
		a.Equation == b.Equation && a.Tensor == b.Tensor && a.Index == b.Index && a.Backward == b.Backward
}

// steep is an echo whose backward overflows while its forward does not.
type steep struct{ echo[float32] }

type steepNode struct {
	vX, vW tape.Value[float32]
	outY   tape.Value[float32]
	by     float32
}

func (n *steepNode) Backward(t *tape.Tape[float32]) {
	if dy := t.Adjoint(n.outY); dy != nil {
		for i, g := range t.Grad(n.vX) {
			t.Grad(n.vX)[i] = g + dy[i]
		}
		t.Grad(n.vW)[0] += float32(n.by * dy[0])
	}
}

func (e steep) Step(c block.Call[float32], w block.Weights[float32], m *block.Memory[float32], ids, next []int32) (loss, logits tape.Value[float32], err error) {
	loss, logits, err = e.echo.Step(c, w, m, ids, next)
	n := tape.Push[float32, steepNode](c.Run, kindEcho+1)
	y := c.Run.Arena.Alloc(1)
	y[0] = loss.Data[0]
	n.vX, n.vW, n.by, n.outY = loss, w.Value("H"), float32(math.Inf(1)), c.Run.Output(y)
	switch {
	case ids[0] < 50:
		n.by = 3e38 // a slot has half of it
	case ids[0] < 100:
		n.by = 2e38 // and here a little more than all
		c.Run.Tape.Seed(n.outY, []float32{0.7})
	}
	return n.outY, logits, err
}

// TestBadGradient: a backward that overflows is named; where only the sum over
// the slots does, the parameter is.
func TestBadGradient(t *testing.T) {
	m, err := module.New(module.Config[float32]{Model: steep{echo[float32]{stream.Vocab, 3}}, Update: &descent[float32]{1}})
	if err != nil {
		t.Fatal(err)
	}
	var h context.Handle[*module.Memory[float32]] = m.NewContext(2)
	for _, x := range []struct {
		ids  []int32
		want module.BadNumber
		says string
	}{
		{[]int32{7, 101}, module.BadNumber{Slot: 1, Equation: "module_test.steep", Backward: true}, "in the backward of module_test.steep, tensor H[0], level 0, slot 1"},
		{[]int32{101, 7}, module.BadNumber{Slot: 0, Equation: "module_test.steep", Backward: true}, "in the backward of module_test.steep, tensor H[0], level 0, slot 0"},
		{[]int32{51, 52}, module.BadNumber{Slot: -1}, "the gradient is +Inf; what went bad first is tensor H[0], level 0; nothing"},
		{[]int32{7, 8}, module.BadNumber{}, ""},
	} {
		c := stream.Chunk{Batch: 2, Tokens: 1, Inputs: x.ids, Targets: []int32{1, 2}}
		before := state(t, h)
		var err error
		_, h, err = m.Process(c, h, pulse.First(pulse.Build))
		if x.says == "" {
			if err != nil {
				t.Errorf("two slots whose sum is finite: %v", err)
			}
			continue
		}
		var got *module.BadNumber
		if !errors.As(err, &got) || !strings.Contains(err.Error(), x.says) {
			t.Fatalf("%v: %v, want %q", x.ids, err, x.says)
		}
		x.want.What, x.want.Value, x.want.Token, x.want.Tensor = "the gradient", got.Value, -1, "H"
		if !equal(*got, x.want) {
			t.Errorf("%+v, want %+v", *got, x.want)
		}
		sameStates(t, "after it", state(t, h), before)
	}
}
