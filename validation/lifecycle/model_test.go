package lifecycle

import (
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/generated/compositions/mag"
	"github.com/nl-hecate/hecate/generated/compositions/slidingwindow"
	"github.com/nl-hecate/hecate/generated/models/bytelm"
	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/generated/rules/deeptitans"
	"github.com/nl-hecate/hecate/generated/rules/yaad"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
	"github.com/nl-hecate/hecate/runtime/update"
)

// vocabulary is that of bytes, so that streams of text can be read.
const vocabulary = 256

// A model is a generated one with its parameters and what moves them.
type model struct {
	block.Model[float32]
	set    *context.ParamSet[float32]
	writer *context.Writer[float32]
	moves  *update.Machine[float32]
	arena  *tape.Arena[float32] // of updates
}

// zeroB is a delta rule that gates attention: a memory that starts at zero, a
// convolution and a window that are carried from chunk to chunk.
func zeroB(t testing.TB) *model {
	m, err := registry.NewModel[float32]("ZeroB", sizes())
	return ready(t, m, err)
}

// learned is the same with a memory of two layers in the place of the delta rule,
// whose start is learned and which is drawn back to where its context began.
func learned(t testing.TB) *model {
	s := sizes("memory.d_h")
	rule, window := yaad.New[float32](s.Part("memory"), 8), slidingwindow.New[float32](s.Part("attention"), 8)
	m := bytelm.New(s, mag.New[float32](s, 8, rule, window))
	return ready(t, m, s.Err())
}

// begun is a model whose start is learned and read where a context begins, and nowhere else.
func begun(t testing.TB) *model {
	s := sizes("memory.d_h")
	rule, window := deeptitans.New[float32](s.Part("memory"), 8), slidingwindow.New[float32](s.Part("attention"), 8)
	m := bytelm.New(s, mag.New[float32](s, 8, rule, window))
	return ready(t, m, s.Err())
}

// sizes are those of both models, and further ones that one has.
func sizes(more ...string) block.Sizes {
	z := map[string]int{"V": vocabulary, "d": 8, "memory.d_k": 8, "attention.H": 2, "attention.w": 5, "attention.n_p": 1}
	for _, name := range more {
		z[name] = 8
	}
	return block.NewSizes(z)
}

// ready fills the parameters of a model and makes what moves them.
func ready(t testing.TB, m block.Model[float32], err error) *model {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	k := &model{Model: m, set: &context.ParamSet[float32]{}, arena: &tape.Arena[float32]{}}
	if err := m.Declare(k.set, ""); err != nil {
		t.Fatal(err)
	}
	k.set.Fill(5)
	u, err := registry.NewUpdate[float32]("AdamW")
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Set("lr", 0.05); err != nil {
		t.Fatal(err)
	}
	k.moves = update.NewMachine(u, nil, k.set.View(), update.Options{})
	if k.writer, err = k.set.Writer(); err != nil {
		t.Fatal(err)
	}
	return k
}

// A session is one text that a model reads, with its context and its clock.
type session struct {
	t     testing.TB
	model *model
	arena *tape.Arena[float32]
	ctx   context.Handle[*block.Memory[float32]]
	now   pulse.Pulse
}

func (k *model) session(t testing.TB, phase pulse.Phase) *session {
	return &session{t: t, model: k, arena: &tape.Arena[float32]{Debug: true},
		ctx: context.New(k.NewMemory(1)), now: pulse.First(phase)}
}

// A result is what a chunk gave.
type result struct {
	loss   float32
	logits []float32
	grads  [][]float32 // by parameter; nil without a tape
}

// step reads a chunk: with a tape in the build phase, without one in the others.
func (s *session) step(ids, next []int32) result {
	s.t.Helper()
	out, err := s.try(ids, next)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func (s *session) try(ids, next []int32) (out result, err error) {
	s.ctx, err = s.ctx.Step(func(m *block.Memory[float32]) (*block.Memory[float32], error) {
		var err error
		out, err = s.model.forward(s.arena, s.now, m, ids, next, nil)
		if err == nil {
			m.Keep()
		}
		return m, err
	})
	s.now = s.now.Next(len(ids))
	return out, err
}

// forward runs the model once. Between its forward and its backward it calls
// between, if there is one.
func (k *model) forward(a *tape.Arena[float32], now pulse.Pulse, m *block.Memory[float32], ids, next []int32, between func()) (out result, err error) {
	scope := tape.Without[float32]
	if now.Phase() == pulse.Build {
		scope = tape.With[float32]
	}
	err = scope(a, now, func(r *tape.Run[float32]) error {
		w := block.Bind(r, k.set.View())
		loss, logits, err := k.Step(block.Call[float32]{Run: r, Pulse: now, Batch: 1, Tokens: len(ids)}, w, m, ids, next)
		if err != nil {
			return err
		}
		out.loss, out.logits = loss.Data[0], slices.Clone(logits.Data)
		if between != nil {
			between()
		}
		if r.Tape == nil {
			return nil
		}
		if err := r.Tape.Backward(loss); err != nil {
			return err
		}
		r.Tape.Params(func(_ string, g []float32) { out.grads = append(out.grads, slices.Clone(g)) })
		return nil
	})
	return out, err
}

// update moves the parameters by their gradients.
func (k *model) update(grads [][]float32) {
	_ = tape.Without(k.arena, pulse.First(pulse.Build), func(r *tape.Run[float32]) error {
		k.writer.Update(func(i int, _ context.Param, data []float32) { k.moves.Step(r, i, data, k.full(grads, i)) })
		return nil
	})
}

// full is the gradient of parameter i, zeros where the loss did not depend on it.
func (k *model) full(grads [][]float32, i int) []float32 {
	if grads[i] != nil {
		return grads[i]
	}
	return make([]float32, len(k.set.View().Data(i)))
}

// A text is ids with those that follow them, in chunks of n.
type text struct {
	ids []int32
	n   int
}

// draw is a text of a name: chunks of it differ from each other and from those of
// other names.
func draw(name string, chunks, n int) text {
	random := num.NewStream(name, 3)
	ids := make([]int32, chunks*n+1)
	for i := range ids {
		ids[i] = int32('a' + random.Next()>>33%20)
	}
	return text{ids, n}
}

func (x text) chunk(c int) (ids, next []int32) {
	return x.ids[c*x.n : (c+1)*x.n], x.ids[c*x.n+1 : (c+1)*x.n+1]
}

// read reads the chunks from … to of a text and returns what they gave.
func (s *session) read(x text, from, to int) (out []result) {
	s.t.Helper()
	for c := from; c < to; c++ {
		out = append(out, s.step(x.chunk(c)))
	}
	return out
}

// alike reports whether results have the same bits.
func alike(a, b []result) bool {
	return slices.EqualFunc(a, b, func(x, y result) bool {
		return same([]float32{x.loss}, []float32{y.loss}) && same(x.logits, y.logits) && slices.EqualFunc(x.grads, y.grads, same)
	})
}
