package tape_test

// Two operations written the way generated code writes them.

import (
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
)

var (
	kindMul     = tape.NewKind()
	kindSum     = tape.NewKind()
	kindEmpty   = tape.NewKind()
	kindScratch = tape.NewKind()
)

type mulNode[F num.Float] struct{ a, b, out tape.Value[F] }

// mul returns a ⊙ b.
func mul[F num.Float](r *tape.Run[F], a, b tape.Value[F]) tape.Value[F] {
	y := r.Arena.Alloc(len(a.Data))
	for i := range y {
		y[i] = r.Arena.Data(a)[i] * r.Arena.Data(b)[i]
	}
	out := r.Output(y)
	n := tape.Push[F, mulNode[F]](r, kindMul)
	n.a, n.b, n.out = a, b, out
	return out
}

func (n *mulNode[F]) Backward(t *tape.Tape[F]) {
	dy := t.Adjoint(n.out)
	if dy == nil {
		return
	}
	if da := t.Grad(n.a); da != nil {
		for i := range da {
			da[i] += F(dy[i] * n.b.Data[i])
		}
	}
	if db := t.Grad(n.b); db != nil {
		for i := range db {
			db[i] += F(dy[i] * n.a.Data[i])
		}
	}
}

type sumNode[F num.Float] struct{ x, out tape.Value[F] }

// sum returns Σ x.
func sum[F num.Float](r *tape.Run[F], x tape.Value[F]) tape.Value[F] {
	y := r.Arena.Zeros(1)
	for _, v := range r.Arena.Data(x) {
		y[0] += v
	}
	out := r.Output(y)
	n := tape.Push[F, sumNode[F]](r, kindSum)
	n.x, n.out = x, out
	return out
}

func (n *sumNode[F]) Backward(t *tape.Tape[F]) {
	if dy, dx := t.Adjoint(n.out), t.Grad(n.x); dy != nil && dx != nil {
		for i := range dx {
			dx[i] += dy[0]
		}
	}
}

// An empty operation: the cost of recording alone.
type emptyNode[F num.Float] struct{ a, b, out tape.Value[F] }

func empty[F num.Float](r *tape.Run[F], a, b tape.Value[F]) tape.Value[F] {
	out := r.Output(r.Arena.Alloc(len(a.Data)))
	n := tape.Push[F, emptyNode[F]](r, kindEmpty)
	n.a, n.b, n.out = a, b, out
	return out
}

func (n *emptyNode[F]) Backward(t *tape.Tape[F]) {
	if dy := t.Adjoint(n.out); dy != nil {
		t.Grad(n.a)[0] += dy[0]
	}
}

// A scratchNode asks for scratch twice and does nothing.
type scratchNode struct{}

func (*scratchNode) Backward(t *tape.Tape[float64]) {
	t.Scratch(400)
	t.Scratch(600)
}
