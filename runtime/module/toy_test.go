package module_test

import (
	"testing"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/conductor"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tape"
	"github.com/nl-hecate/hecate/runtime/tensor"
	"github.com/nl-hecate/hecate/runtime/update"
)

// An echo is the smallest model with all that a model has: parameters, a state
// that is carried from call to call, tokens, a loss and a backward.
//
//	s_t = a·s_{t−1} + E[ids_t],  z_t = H s_t,  loss = mean(logsumexp(z_t) − z_t[next_t])
type echo[F num.Float] struct{ v, d int }

func (e echo[F]) Name() string    { return "Echo" }
func (e echo[F]) Vocabulary() int { return e.v }

func (e echo[F]) Declare(s *context.ParamSet[F], prefix string) error {
	for _, p := range []context.Param{
		{Name: prefix + "E", Shape: tensor.Shape{e.v, e.d}, Init: context.Init{Kind: context.Uniform, A: -1, B: 1}},
		{Name: prefix + "H", Shape: tensor.Shape{e.v, e.d}, Init: context.Init{Kind: context.Uniform, A: -1, B: 1}},
		{Name: prefix + "a", Shape: tensor.Shape{}, NoDecay: true, Init: context.Init{Kind: context.Constant, A: 0.5}},
		{Name: prefix + "R", Shape: tensor.Shape{2}, Fixed: true, Init: context.Init{Kind: context.Normal, B: 1}},
	} {
		if err := s.Add(p); err != nil {
			return err
		}
	}
	return nil
}

func (e echo[F]) NewMemory(batch int) *block.Memory[F] {
	return block.NewMemory(batch, block.Slot[F]{Name: "s", Shape: []int{e.d}})
}

type echoCall[F num.Float] struct {
	L, T     int
	E, H, A  []F
	Start    []F // [L, d]
	Z        []F // [L, T, V], written
	StateOut []F // [L, d], written
	State    []F // [L, T, d], written
	Chance   []F // [L, T, V], written
}

type echoNode[F num.Float] struct {
	call          echoCall[F]
	ids, next     []int32
	valid         [8]int // by sequence
	vE, vH, vA    tape.Value[F]
	vStart, state tape.Value[F]
	outZ, outLoss tape.Value[F]
}

var kindEcho = tape.NewKind()

func (e echo[F]) Step(c block.Call[F], w block.Weights[F], m *block.Memory[F], ids, next []int32) (loss, logits tape.Value[F], err error) {
	if err = block.CheckIndices("ids", ids, 0, e.v-1); err != nil {
		return
	}
	if err = c.Check("Echo", m); err != nil {
		return
	}
	n := tape.Push[F, echoNode[F]](c.Run, kindEcho)
	k, a := &n.call, c.Run.Arena
	n.vE, n.vH, n.vA, n.ids, n.next = w.Value("E"), w.Value("H"), w.Value("a"), ids, next
	n.vStart = m.State(c, 0)
	k.L, k.T, k.E, k.H, k.A, k.Start = c.Batch, c.Tokens, a.Data(n.vE), a.Data(n.vH), a.Data(n.vA), a.Data(n.vStart)
	k.Z, k.StateOut, k.State, k.Chance = a.Alloc(len(ids)*e.v), a.Alloc(c.Batch*e.d), c.Run.Saved(len(ids)*e.d), c.Run.Saved(len(ids)*e.v)
	sum := a.Zeros(c.Batch)
	copy(k.StateOut, k.Start)
	for t, id := range ids {
		l := t / k.T
		state := k.StateOut[l*e.d:][:e.d]
		for j := range e.d {
			state[j] = F(k.A[0]*state[j]) + k.E[int(id)*e.d+j]
			k.State[t*e.d+j] = state[j]
		}
		total := F(0)
		for v := range e.v {
			z := F(0)
			for j := range e.d {
				z += F(k.H[v*e.d+j] * state[j])
			}
			k.Z[t*e.v+v], k.Chance[t*e.v+v] = z, num.Exp(z)
			total += num.Exp(z)
		}
		for v := range e.v {
			k.Chance[t*e.v+v] /= total
		}
		if x := next[t]; x >= 0 {
			sum[l] += num.Log(total) - k.Z[t*e.v+int(x)]
			n.valid[l]++
		}
	}
	for l := range sum {
		sum[l] /= F(max(n.valid[l], 1))
	}
	n.state = m.SetNext(c, 0, k.StateOut)
	m.Advance(c.Tokens)
	n.outZ, n.outLoss = c.Run.Output(k.Z), c.Run.Output(sum)
	return n.outLoss, n.outZ, nil
}

func (n *echoNode[F]) Backward(t *tape.Tape[F]) {
	if t.Adjoint(n.outLoss) == nil && t.Adjoint(n.state) == nil {
		return
	}
	ds := t.Scratch(len(n.call.Start))
	copy(ds, block.Adjoint(t, n.state, len(ds)))
	for l, dl := range block.Adjoint(t, n.outLoss, n.call.L) {
		n.backward(t, l, dl, ds[l*len(ds)/n.call.L:][:len(ds)/n.call.L])
	}
	block.Accumulate(t, n.vStart, ds)
}

// backward is that of one sequence; ds is the adjoint of its state.
func (n *echoNode[F]) backward(t *tape.Tape[F], l int, dl F, ds []F) {
	k := &n.call
	dE, dH, dA := t.Grad(n.vE), t.Grad(n.vH), t.Grad(n.vA)
	d, v := len(k.Start)/k.L, len(k.Z)/k.T/k.L
	for s := (l+1)*k.T - 1; s >= l*k.T; s-- {
		for x := range v {
			dz := F(0)
			if n.next[s] >= 0 {
				dz = k.Chance[s*v+x]
				if int(n.next[s]) == x {
					dz--
				}
				dz = F(dz*dl) / F(n.valid[l])
			}
			for j := range d {
				dH[x*d+j] += F(dz * k.State[s*d+j])
				ds[j] += F(dz * k.H[x*d+j])
			}
		}
		for j := range d {
			before := k.Start[l*d+j]
			if s > l*k.T {
				before = k.State[(s-1)*d+j]
			}
			dE[int(n.ids[s])*d+j] += ds[j]
			dA[0] += F(ds[j] * before)
			ds[j] = F(ds[j] * k.A[0])
		}
	}
}

// descent moves parameters against their gradients, and keeps their sum.
type descent[F num.Float] struct{ rate float64 }

func (u *descent[F]) Name() string                     { return "Descent" }
func (u *descent[F]) Settings(f func(string, float64)) { f("lr", u.rate) }
func (u *descent[F]) Set(_ string, x float64) error    { u.rate = x; return nil }
func (u *descent[F]) Slots(p context.Param) update.Slots[F] {
	n, _ := p.Shape.Size()
	return &trail[F]{u, make([]F, n)}
}

type trail[F num.Float] struct {
	u   *descent[F]
	sum []F
}

func (s *trail[F]) By() string               { return "Descent" }
func (s *trail[F]) Each(f func(string, []F)) { f("sum", s.sum) }
func (s *trail[F]) Step(_ *tape.Run[F], n int, w, g []F) {
	for i, x := range g {
		s.sum[i] += x
		w[i] -= F(F(s.u.rate/float64(n+1)) * s.sum[i])
	}
}

const letters = "the quick brown fox jumps over the lazy dog and the slow red hen sits under it"

// text is two documents, so that one ends within a slot.
func text(t testing.TB) stream.Part {
	t.Helper()
	x, err := stream.FromDocuments("letters", []byte(letters[:31]), []byte(letters[31:]))
	if err != nil {
		t.Fatal(err)
	}
	part, _ := stream.Split(x)
	return part
}

func batchOf(t testing.TB, n int) *stream.Stream {
	t.Helper()
	s, err := stream.New(text(t), n)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newModule[F module.Float](t testing.TB, seed uint64) *module.Module[F] {
	t.Helper()
	m, err := module.New(module.Config[F]{Model: echo[F]{stream.Vocab, 3}, Update: &descent[F]{0.5}, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newSession[F module.Float](t testing.TB, n int, seed uint64, s pulse.Schedule) *module.Session[F] {
	t.Helper()
	x, err := module.NewSession(newModule[F](t, seed), batchOf(t, n), s, pulse.Build)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func newConductor(t testing.TB, n int, phase pulse.Phase) *conductor.Conductor {
	t.Helper()
	c, err := conductor.New(batchOf(t, n), pulse.Schedule{}, phase)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
