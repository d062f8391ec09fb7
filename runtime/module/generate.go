package module

import (
	goctx "context"
	"errors"
	"fmt"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/sample"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// Sampling says how tokens are drawn, and how many.
type Sampling struct {
	sample.Settings
	Limit int                    // tokens at most
	Stop  func(token int32) bool // the token that was drawn is the last one; nil is never
	Chunk int                    // tokens that one step of the schedule takes; 0 is 1
}

// Check says what is wrong with a sampling.
func (s Sampling) Check() error {
	if s.Limit < 0 || s.Chunk < 0 {
		return fmt.Errorf("module: the sampling has limit %d and chunk %d, want at least 0", s.Limit, s.Chunk)
	}
	if err := s.Settings.Check(); err != nil {
		return fmt.Errorf("module: %w", err)
	}
	return nil
}

// errPrompt says that the prompt is empty.
var errPrompt = errors.New("module: the prompt has no token; a model continues at least one")

// Generate reads a prompt after what a slot has read, and draws the tokens that follow.
// It works on a fork of the slot's context and changes no parameter: the run is
// unchanged, bit for bit. p is the pulse of the first token; its phase is ignored.
// Tokens are processed one by one, Chunk of them to a step of the schedule. When ctx
// ends, Generate returns the tokens drawn so far. The error
// is the handle's, that of a prompt outside the vocabulary, or a *BadNumber.
//
//hecate:borrows
func (m *Module[F]) Generate(ctx goctx.Context, h context.Handle[*Memory[F]], slot int, p pulse.Pulse, prompt []int32, s Sampling) (_ []int32, err error) {
	defer device.Recover(m.memory, &err)
	if err := s.Check(); err != nil {
		return nil, err
	}
	if len(prompt) == 0 {
		return nil, errPrompt
	}
	fork, err := h.Fork(func(mem *Memory[F]) *Memory[F] {
		if slot < 0 || slot >= mem.Batch() {
			return nil
		}
		return mem.only(slot)
	})
	if err != nil {
		return nil, err
	}
	mem, err := fork.Take()
	switch {
	case err != nil:
		return nil, err
	case mem == nil:
		return nil, fmt.Errorf("module: there is no slot %d to continue", slot)
	}
	defer mem.release()
	m.workers(1) // makes an arena
	g := &generator[F]{m: m, memory: mem.slots[0].live, pulse: p.In(pulse.Stream), s: s, drawer: sample.New[F](s.Settings), next: []int32{stream.Ignore}}
	g.step = g.forward
	return g.run(ctx, prompt)
}

// A generator is one Generate under way.
type generator[F Float] struct {
	m         *Module[F]
	memory    *block.Memory[F]
	pulse     pulse.Pulse
	used      int // tokens of the current step of the schedule
	s         Sampling
	drawer    *sample.Drawer[F]
	ids, next []int32
	draws     bool // a token is drawn after this one
	last      int32
	step      func(r *tape.Run[F]) error
}

func (g *generator[F]) run(ctx goctx.Context, prompt []int32) ([]int32, error) {
	out := make([]int32, 0, g.s.Limit)
	for at := 0; len(out) < g.s.Limit && ctx.Err() == nil; at++ {
		if at < len(prompt) {
			g.ids = prompt[at : at+1]
			g.drawer.Saw(prompt[at])
		}
		g.draws = at >= len(prompt)-1
		if err := tape.Without(g.m.arenas[0], g.pulse, g.step); err != nil {
			return nil, err
		}
		g.memory.Keep()
		g.tick()
		if !g.draws {
			continue
		}
		out = append(out, g.last)
		if g.s.Stop != nil && g.s.Stop(g.last) {
			break
		}
		g.ids = out[len(out)-1:]
	}
	return out, nil
}

// tick advances the clock by one token.
func (g *generator[F]) tick() {
	if g.used++; g.used < g.s.Chunk {
		g.pulse = g.pulse.At(g.pulse.Step(), g.pulse.Position()+1)
		return
	}
	g.used = 0
	g.pulse = g.pulse.Next(1)
}

// forward reads one token and draws the next.
func (g *generator[F]) forward(r *tape.Run[F]) error {
	call := block.Call[F]{Run: r, Pulse: g.pulse, Batch: 1, Tokens: 1}
	_, logits, err := g.m.model.Step(call, block.Bind(r, g.m.params.View()), g.memory, g.ids, g.next)
	if err != nil {
		return err
	}
	drawn := device.Host(logits.Data)
	if err := g.m.fault(); err != nil {
		return err
	}
	for i, z := range drawn {
		if !num.IsFinite(z) {
			return &BadNumber{What: fmt.Sprintf("the logit of token %d", i), Value: float64(z), Step: g.pulse.Step(), Slot: -1, Level: -1, Token: -1}
		}
	}
	if g.draws {
		g.last = int32(g.drawer.Next(drawn))
	}
	return nil
}
