package build

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nl-hecate/hecate/cmd/hecate/internal/plot"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
)

// outputs writes the checkpoint, the losses and the curve, and prints a
// sample.
func (r *run[F]) outputs(ctx context.Context, unigram, bigram, after float64, stopped bool) error {
	if err := r.files(); err != nil {
		return err
	}
	svg, png, err := plot.Draw(plot.Curve{Title: r.opt.Model + " on " + r.recipe.Text, Tokens: r.opt.Lanes * r.opt.Chunk, Bits: r.curve,
		Unigram: unigram, Bigram: bigram, Before: r.before[0], After: after})
	if err != nil {
		return err
	}
	if err := checkpoint.WriteFile(r.stem()+".svg", svg); err != nil {
		return err
	}
	if err := checkpoint.WriteFile(r.stem()+".png", png); err != nil {
		return err
	}
	if r.opt.Sample > 0 && !stopped {
		if err := r.sample(ctx); err != nil {
			return err
		}
	}
	fmt.Fprintf(r.w, "wrote:    %s.safetensors .jsonl .svg .png\n", r.stem())
	return nil
}

// files writes the checkpoint and the losses.
func (r *run[F]) files() error {
	if err := os.MkdirAll(r.opt.Out, 0o755); err != nil {
		return err
	}
	snap, err := r.snapshot()
	if err != nil {
		return err
	}
	if err := checkpoint.Write(r.stem()+".safetensors", snap); err != nil {
		return err
	}
	return checkpoint.WriteFile(r.stem()+".jsonl", r.losses())
}

// sample prints text that the model goes on with, behind the checkpoint: to see
// what the first lane reads next is to take the next chunk.
func (r *run[F]) sample(ctx context.Context) error {
	c, _, err := r.session.Conductor().Next(1)
	if err != nil {
		return err
	}
	text, err := bytesOf(r.session.Generate(ctx, 0, c.Inputs[:1], sampling(r.opt.Sample, r.opt.Seed)))
	if err != nil {
		return err
	}
	if err := checkpoint.WriteFile(r.stem()+".txt", text); err != nil {
		return err
	}
	fmt.Fprintf(r.w, "\n%s\n\n", printable(text))
	return nil
}

// losses are one JSON object a step.
func (r *run[F]) losses() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	for i, x := range r.curve {
		_ = e.Encode(struct { // a buffer takes everything
			Step   int     `json:"step"`
			Tokens int     `json:"tokens"`
			Bits   float64 `json:"bits_per_byte"`
		}{i + 1, (i + 1) * r.opt.Lanes * r.opt.Chunk, x})
	}
	return b.Bytes()
}

// name is the stem of all files of the run, and stem is where they lie.
func (r *run[F]) name() string { return strings.ToLower(r.opt.Model) }
func (r *run[F]) stem() string { return filepath.Join(r.opt.Out, r.name()) }
