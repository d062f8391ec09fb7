package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/nl-hecate/hecate/command/internal/report"
	"github.com/nl-hecate/hecate/runtime/sample"
	"github.com/spf13/cobra"
)

// generation describes a text to generate.
type generation struct {
	Checkpoint string `json:"checkpoint"`
	Model      string `json:"model"`
	sample.Settings
	Prompt string    `json:"prompt"`
	Tokens int       `json:"max_tokens"`
	Stop   string    `json:"stop,omitempty"`
	Text   string    `json:"text"`
	Logs   []float64 `json:"logprobs,omitempty"` // natural, by token
	Hash   string    `json:"context"`            // digest of the context at the end
}

// generateCommand is `hecate generate`.
func generateCommand(maker engine.Maker) *cobra.Command {
	var g generation
	var tokenizer, device string
	var asJSON, logs, raw bool
	c := &cobra.Command{
		Use: "generate CHECKPOINT [flags]", Short: "Generate text that continues a prompt",
		Long:              "Generate text that continues a prompt, in a new context. The same checkpoint, prompt and settings produce the same text.\nA model that was built on tokens without a tokenizer reads and writes token ids.",
		Args:              exactly(1, "a checkpoint"),
		ValidArgsFunction: completeCheckpoints,
		RunE: func(c *cobra.Command, args []string) (err error) {
			if err := g.check(); err != nil {
				return misuse{err}
			}
			g.Checkpoint = args[0]
			if err := checkDevice(device); err != nil {
				return err
			}
			r, err := maker.NewReader(args[0], tokenizer, device)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.Close()) }()
			sayFallback(c, r.Info().Fallback)
			out := c.OutOrStdout()
			each := func(b []byte) error { _, err := io.WriteString(out, report.Printable(b)); return err }
			if raw {
				each = func(b []byte) error { _, err := out.Write(b); return err }
			}
			if asJSON {
				each = nil
			}
			err = g.run(c.Context(), r, logs, each)
			if errors.Is(err, context.Canceled) {
				err = nil // the text is complete up to here
			}
			if err == nil && asJSON {
				return printJSON(out, g)
			}
			if err == nil && !raw {
				_, err = fmt.Fprintln(out)
			}
			return err
		},
	}
	f := c.Flags()
	f.StringVarP(&g.Prompt, "prompt", "p", "\n", "`text` that the model reads first, or token ids")
	f.IntVarP(&g.Tokens, "tokens", "n", 400, "maximal `number` of tokens to draw (bytes without a tokenizer)")
	deviceFlag(c, &device)
	f.StringVar(&tokenizer, "tokenizer", "", "`file` of the tokenizer; by default the one saved with the checkpoint")
	def := config.Default().Sample.Settings(1)
	f.Float64Var(&g.Temperature, "temperature", def.Temperature, "divides the logits; 0 always takes the most probable token")
	f.IntVar(&g.TopK, "top-k", def.TopK, "draw among this `number` of most probable tokens; 0: all")
	f.Float64Var(&g.TopP, "top-p", def.TopP, "nucleus sampling: draw among the most probable tokens that have this `probability` together; 0 or 1: all")
	f.Float64Var(&g.MinP, "min-p", def.MinP, "draw among tokens with at least this `share` of the highest probability")
	f.Float64Var(&g.Penalty, "repeat-penalty", def.Penalty, "divides the logits of tokens that came lately, if they are positive, else multiplies them; 0 or 1: none")
	f.IntVar(&g.Window, "repeat-window", def.Window, "the last `tokens` that --repeat-penalty counts; 0: all")
	f.Uint64Var(&g.Seed, "seed", def.Seed, "random `seed` of the draws")
	f.StringVar(&g.Stop, "stop", "", "end before this `text`")
	f.BoolVar(&logs, "logprobs", false, "with --json: the logarithm of each token's probability")
	f.BoolVar(&asJSON, "json", false, "print one JSON object, with the settings in effect")
	f.BoolVar(&raw, "raw", false, "print the bytes unchanged, without a final newline")
	return c
}

func (g *generation) check() error {
	if g.Tokens < 0 {
		return fmt.Errorf("--tokens is %d, must be at least 0", g.Tokens)
	}
	if err := g.Check(); err != nil {
		return fmt.Errorf("--%w", err)
	}
	return nil
}

// run draws tokens, and emits text as soon as it cannot be part of the stop text.
func (g *generation) run(ctx context.Context, r engine.Reader, logs bool, each func([]byte) error) (err error) {
	g.Model = r.Info().Model
	chunk := max(r.Info().Chunk, 1)
	prompt, err := r.Encode([]byte(g.Prompt))
	if err == nil && len(prompt) == 0 {
		err = fmt.Errorf("--prompt %q has no token: a context begins with at least one", g.Prompt)
	}
	if err != nil {
		return misuse{err}
	}
	if _, _, err := r.Read(ctx, prompt, chunk); err != nil {
		return err
	}
	d := sample.New[float32](g.Settings)
	for _, id := range prompt {
		d.Saw(id)
	}
	var text []byte
	given := 0
	defer func() {
		h, e := r.Hash()
		g.Text, g.Hash, err = report.Printable(text), h, errors.Join(err, e)
	}()
	give := func(to int) error {
		if each == nil || to <= given {
			return nil
		}
		err := each(text[given:to])
		given = to
		return err
	}
	for n := 0; n < g.Tokens && ctx.Err() == nil; n++ {
		logits, err := r.Next()
		if err != nil {
			return err
		}
		id := d.Next(logits)
		if logs {
			g.Logs = append(g.Logs, math.Round(sample.LogProb(logits, id)*1e6)/1e6)
		}
		word, err := r.Decode(int32(id), n == 0)
		if err != nil {
			return err
		}
		text = append(text, word...)
		if at := bytes.Index(text[max(len(text)-len(word)-len(g.Stop), 0):], []byte(g.Stop)); g.Stop != "" && at >= 0 {
			text = text[:max(len(text)-len(word)-len(g.Stop), 0)+at]
			return give(len(text))
		}
		if _, _, err := r.Read(ctx, []int32{int32(id)}, chunk); err != nil {
			return err
		}
		if err := give(whole(text, len(text)-max(len(g.Stop)-1, 0))); err != nil {
			return err
		}
	}
	return give(len(text))
}

// whole is the greatest length up to n at which no character is cut in two.
func whole(text []byte, n int) int {
	for start := n - 1; start >= max(n-utf8.UTFMax, 0); start-- {
		if utf8.RuneStart(text[start]) {
			if !utf8.FullRune(text[start:n]) {
				return start
			}
			break
		}
	}
	return max(n, 0)
}
