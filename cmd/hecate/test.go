package main

import (
	"fmt"

	"github.com/nl-hecate/hecate/cmd/hecate/internal/engine"
	"github.com/nl-hecate/hecate/cmd/hecate/internal/progress"
	"github.com/spf13/cobra"
)

// texts opens a text, cut into what is built on and what is held out.
type texts interface {
	Text(path string) (note string, built, heldOut []byte, err error)
}

// tested is what `hecate test` prints.
type tested struct {
	Checkpoint string  `json:"checkpoint"`
	Model      string  `json:"model"`
	Step       int     `json:"step"`
	Text       string  `json:"text"`
	Bytes      int     `json:"held_out_bytes"`
	Chunk      int     `json:"chunk"`
	Bits       float64 `json:"bits_per_byte"`
}

func (x tested) String() string {
	return fmt.Sprintf("%s after %s steps: %.3f bits/byte on the held-out %s bytes of %s, in calls of %d tokens\n",
		x.Model, progress.Count(x.Step), x.Bits, progress.Count(x.Bytes), x.Text, x.Chunk)
}

// testCommand is `hecate test`.
func testCommand(maker interface {
	engine.Maker
	texts
}) *cobra.Command {
	var x tested
	var text string
	var asJSON bool
	c := &cobra.Command{
		Use: "test CHECKPOINT [flags]", Short: "Measure a checkpoint on the held-out part of a text",
		Long:              "Measure a checkpoint on the held-out part of a text, in bits per byte, as a build does at its end.\nNothing is moved and nothing is written.",
		Args:              exactly(1, "a checkpoint"),
		ValidArgsFunction: completeCheckpoints,
		RunE: func(c *cobra.Command, args []string) error {
			x.Checkpoint = args[0]
			r, err := maker.NewReader(args[0])
			if err != nil {
				return err
			}
			if x.Step, err = maker.Steps(args[0]); err != nil {
				return err
			}
			var built, held []byte
			if x.Text, built, held, err = maker.Text(text); err != nil {
				return err
			}
			if x.Chunk == 0 {
				x.Chunk = r.Info().Chunk
			}
			if x.Chunk < 1 {
				return misuse{fmt.Errorf("--chunk is %d, must be at least 1", x.Chunk)}
			}
			x.Model, x.Bytes = r.Info().Model, len(held)
			if x.Bits, err = r.Measure(c.Context(), built[len(built)-1], held, x.Chunk); err != nil {
				return err
			}
			return show(c.OutOrStdout(), x, asJSON, true)
		},
	}
	c.Flags().StringVar(&text, "text", "", "`file` to measure on; by default Newton's Opticks from the Go toolchain")
	c.Flags().IntVar(&x.Chunk, "chunk", 0, "`tokens` of a call; by default those of the build")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
