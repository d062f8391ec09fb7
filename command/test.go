package command

import (
	"fmt"

	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/nl-hecate/hecate/command/internal/progress"
	"github.com/spf13/cobra"
)

// tested is what `hecate test` prints.
type tested struct {
	Checkpoint string  `json:"checkpoint"`
	Model      string  `json:"model"`
	Step       int     `json:"step"`
	Text       string  `json:"text"`
	Size       int     `json:"held_out"` // in units
	Unit       string  `json:"unit"`     // byte, or token where there are no bytes
	Chunk      int     `json:"chunk"`
	Bits       float64 `json:"bits"` // per unit
}

func (x tested) String() string {
	return fmt.Sprintf("%s after %s steps: %.3f bits/%s on the held-out %s %ss of %s, in calls of %d tokens\n",
		x.Model, progress.Count(x.Step), x.Bits, x.Unit, progress.Count(x.Size), x.Unit, x.Text, x.Chunk)
}

// testCommand is `hecate test`.
func testCommand(maker engine.Maker) *cobra.Command {
	var x tested
	var text engine.Text
	var asJSON bool
	c := &cobra.Command{
		Use: "test CHECKPOINT [flags]", Short: "Measure a checkpoint on the held-out part of a text",
		Long:              "Measure a checkpoint on the held-out part of a text, in bits per byte, as a build does at its end:\nof what the checkpoint was built on, bytes, text through its tokenizer, files of tokens\nor a synthetic source. Nothing is moved and nothing is written.",
		Args:              exactly(1, "a checkpoint"),
		ValidArgsFunction: completeCheckpoints,
		RunE: func(c *cobra.Command, args []string) error {
			if x.Chunk < 0 {
				return misuse{fmt.Errorf("--chunk is %d, must be at least 0", x.Chunk)}
			}
			m, err := maker.Measure(c.Context(), args[0], text, x.Chunk)
			if err != nil {
				return err
			}
			x = tested{args[0], m.Model, m.Step, m.Text, m.Size, m.Unit, m.Chunk, m.Bits}
			return show(c.OutOrStdout(), x, asJSON, true)
		},
	}
	textFlags(c, &text)
	c.Flags().IntVar(&x.Chunk, "chunk", 0, "`tokens` of a call; 0 is those of the build")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// textFlags adds flags that say what a checkpoint is to read.
func textFlags(c *cobra.Command, t *engine.Text) {
	c.Flags().StringArrayVar(&t.Paths, "text", nil, "`file` to read, of the kind that the model was built on; may be given often; by default Newton's Opticks from the Go toolchain, or the synthetic source of the build")
	c.Flags().StringVar(&t.Tokenizer, "tokenizer", "", "`file` of the tokenizer; by default the one beside the checkpoint")
}
