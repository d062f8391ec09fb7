package conformance

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// A subject is a block or a model as the tests see it: parameters, a memory,
// and a call that takes its inputs from named arrays and gives its outputs to
// them. Inputs and outputs have sequences and tokens in front.
type subject[F num.Float] struct {
	name    string
	decl    declarer[F]
	call    func(c block.Call[F], w block.Weights[F], m *block.Memory[F], a *Args[F]) error
	prepare func(a *Args[F]) // draws the inputs
	inputs  []string
}

// blockSubject calls Step, or Read when frozen.
func blockSubject[F num.Float](b block.Block[F], frozen bool) subject[F] {
	call := b.Step
	if frozen {
		call = b.Read
	}
	return subject[F]{name: b.Name(), decl: b, inputs: []string{"x"},
		prepare: func(a *Args[F]) { a.Real("x", a.Size("L")*a.Size("T")*b.Width()) },
		call: func(c block.Call[F], w block.Weights[F], m *block.Memory[F], a *Args[F]) error {
			y, err := call(c, w, m, a.Value(c.Run, "x"))
			a.SetOutput("y", y)
			return err
		}}
}

func modelSubject[F num.Float](b block.Model[F]) subject[F] {
	return subject[F]{name: b.Name(), decl: b, inputs: []string{"ids", "next"},
		prepare: func(a *Args[F]) {
			a.Index("ids", a.Size("L")*a.Size("T"), 0, b.Vocabulary()-1)
			a.Index("next", a.Size("L")*a.Size("T"), 0, b.Vocabulary()-1, -1)
		},
		call: func(c block.Call[F], w block.Weights[F], m *block.Memory[F], a *Args[F]) error {
			loss, logits, err := b.Step(c, w, m, a.Ints["ids"], a.Ints["next"])
			a.SetOutput("loss", loss)
			a.SetOutput("logits", logits)
			return err
		}}
}

// A setup is a subject with its parameters, memory and inputs in place. The
// arrays of its Args are those that the subject reads, so that a test can
// change an entry and call again.
type setup[F num.Float] struct {
	subject[F]
	t     testing.TB
	a     *Args[F]
	set   context.ParamSet[F]
	mem   *block.Memory[F]
	arena tape.Arena[F]
}

// newSetup draws what a does not have yet.
func newSetup[F num.Float](s subject[F], a *Args[F]) *setup[F] {
	u := &setup[F]{subject: s, t: a.t, a: a}
	u.arena.Debug = true
	a.Must(s.decl.Declare(&u.set, ""))
	v := u.set.View()
	for i := range v.Len() {
		name := v.Param(i).Name
		copy(v.Data(i), a.Real(name, len(v.Data(i)))) //hecate:allow outerwrite the arrays of Args are the parameters
		a.In[name] = v.Data(i)
	}
	u.mem = a.Memory(s.decl)
	u.mem.Each("", func(name string, _ []int, data []F) { a.In[name] = data })
	u.mem.EachPos("", func(name string, pos []int32) { a.Ints[name] = pos })
	s.prepare(a)
	return u
}

// params are the names of the parameters that have entries and a gradient.
func (u *setup[F]) params() []string {
	var out []string
	v := u.set.View()
	for i := range v.Len() {
		if len(v.Data(i)) > 0 && !v.Param(i).Fixed {
			out = append(out, v.Param(i).Name)
		}
	}
	return out
}

// A result is what one call gave: outputs, gradients, and the memory after it.
type result[F num.Float] struct {
	outs, grads, memory map[string][]F
	pos                 map[string][]int32
}

// forward calls the subject without a tape and leaves its memory as it was.
func (u *setup[F]) forward() result[F] { return u.run(u.mem.Clone(), false) }

// backward calls the subject on a tape and leaves its memory as it was.
func (u *setup[F]) backward() result[F] { return u.run(u.mem.Clone(), true) }

// run calls the subject on a memory and keeps what it leaves.
func (u *setup[F]) run(m *block.Memory[F], taped bool) result[F] {
	out := result[F]{memory: map[string][]F{}, pos: map[string][]int32{}}
	if err := u.try(m, taped); err != nil {
		u.t.Fatalf("%s: %v", u.name, err)
	}
	out.outs, out.grads = u.a.Outs, u.a.Grads
	m.Each("", func(name string, _ []int, data []F) { out.memory[name] = slices.Clone(data) })
	m.EachPos("", func(name string, pos []int32) { out.pos[name] = slices.Clone(pos) })
	return out
}

// try is run without a look at the memory.
func (u *setup[F]) try(m *block.Memory[F], taped bool) error {
	scope := tape.Without[F]
	if taped {
		scope = tape.With[F]
	}
	a := u.a
	a.Outs, a.Grads = map[string][]F{}, map[string][]F{}
	a.given, a.leaves = map[string]tape.Value[F]{}, map[string]tape.Value[F]{}
	err := scope(&u.arena, first(), func(r *tape.Run[F]) error {
		if err := u.call(a.Call(r), block.Bind(r, u.set.View()), m, a); err != nil {
			return err
		}
		for name, y := range a.Outs {
			a.Bar(name, len(y))
		}
		if taped {
			a.reverse(r)
		}
		return nil
	})
	if err == nil {
		m.Keep()
	}
	return err
}

// reverse seeds what was given, runs the tape backwards and collects the
// adjoints of parameters and leaves. One without an adjoint has no entry.
func (a *Args[F]) reverse(r *tape.Run[F]) {
	a.Grads = map[string][]F{}
	for name, v := range a.given {
		r.Tape.Seed(v, a.Bars[name])
	}
	r.Tape.Reverse()
	r.Tape.Params(func(name string, g []F) {
		if g != nil {
			a.Grads[name] = slices.Clone(g)
		}
	})
	for name, v := range a.leaves {
		if g := r.Tape.GradOf(v); g != nil {
			a.Grads[name] = slices.Clone(g)
		}
	}
}

// cut takes the entries of some sequences and tokens of an array with sequences and
// tokens in front.
func cut[E any](x []E, batch, tokens int, sequence [2]int, token [2]int) []E {
	n := len(x) / (batch * tokens)
	if n*batch*tokens != len(x) {
		panic(fmt.Sprintf("conformance: %d entries are not %d sequences of %d tokens", len(x), batch, tokens))
	}
	var out []E
	for l := sequence[0]; l < sequence[1]; l++ {
		out = append(out, x[(l*tokens+token[0])*n:(l*tokens+token[1])*n]...)
	}
	return out
}
