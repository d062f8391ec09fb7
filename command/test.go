package command

import (
	"fmt"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/nl-hecate/hecate/command/internal/progress"
	"github.com/spf13/cobra"
)

// The parts of a text that are measured.
const (
	allOfIt = "whole"
	heldOut = "held out"
)

// tested is the output of `hecate test`.
type tested struct {
	Checkpoint string  `json:"checkpoint"`
	Model      string  `json:"model"`
	Step       int     `json:"step"`
	Text       string  `json:"text"`
	Part       string  `json:"part"` // whole or held out
	Size       int     `json:"size"` // of the part, in units
	Unit       string  `json:"unit"` // byte, or token without bytes
	Chunk      int     `json:"chunk"`
	Bits       float64 `json:"bits"`      // per unit
	Precision  string  `json:"precision"` // of operands of products: that of the build
}

func (x tested) String() string {
	of := "the held-out part of " + x.Text
	if x.Part == allOfIt {
		of = "the whole of " + x.Text + " but its first token"
	}
	return fmt.Sprintf("%s after %s: %.3f bits/%s on %s, %s, in calls of %s\n", x.Model, progress.Things(x.Step, "step"), x.Bits, x.Unit,
		progress.Things(x.Size, x.Unit), of, progress.Things(x.Chunk, "token"))
}

// testCommand is `hecate test`.
func testCommand(maker engine.Maker) *cobra.Command {
	var x tested
	var text engine.Text
	var asJSON bool
	c := &cobra.Command{
		Use: "test CHECKPOINT [flags]", Short: "Measure how well a checkpoint predicts a text",
		Long: `Measure how well a checkpoint predicts a text, in bits per byte (per token where
the model was built on tokens without a tokenizer).

The files of --text are measured completely, except for the first token; with
--held-out, only the share at their end that the build holds out. Without --text,
the held-out part of the default text is measured, or of the synthetic source that
the checkpoint was built on. No parameter changes and no file is written.`,
		Args:              exactly(1, "a checkpoint"),
		ValidArgsFunction: completeCheckpoints,
		RunE: func(c *cobra.Command, args []string) error {
			if x.Chunk < 0 {
				return misuse{fmt.Errorf("--chunk is %d, must be at least 0", x.Chunk)}
			}
			if err := checkDevice(text.Device); err != nil {
				return err
			}
			m, err := maker.Measure(c.Context(), args[0], text, x.Chunk)
			if err != nil {
				return err
			}
			sayFallback(c, m.Fallback)
			part := heldOut
			if m.Whole {
				part = allOfIt
			}
			x = tested{args[0], m.Model, m.Step, m.Text, part, m.Size, m.Unit, m.Chunk, m.Bits, m.Precision}
			return show(c.OutOrStdout(), x, asJSON, true)
		},
	}
	textFlags(c, &text)
	c.Flags().BoolVar(&text.HeldOut, "held-out", false, "measure only the end of the files of --text that the build holds out")
	c.Flags().IntVar(&x.Chunk, "chunk", 0, "`tokens` of a call; 0: as in the build")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// textFlags adds the flags of the text that a checkpoint reads.
func textFlags(c *cobra.Command, t *engine.Text) {
	c.Flags().StringArrayVar(&t.Paths, "text", nil, "`file` to read, of the kind that the model was built on; may be repeated; by default Newton's Opticks from the Go toolchain, or the synthetic source of the build")
	c.Flags().StringVar(&t.Tokenizer, "tokenizer", "", "`file` of the tokenizer; by default the one saved with the checkpoint")
	deviceFlag(c, &t.Device)
}

// deviceFlag adds the flag of the device that a checkpoint computes on.
func deviceFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "device", "cpu", "where the model computes: `name`, of cpu, cuda, cuda:N or auto")
}

// checkDevice refuses a name that is none of a device.
func checkDevice(name string) error {
	if !config.IsDevice(name) {
		return misuse{fmt.Errorf("--device is %q, must be cpu, cuda, cuda:N or auto", name)}
	}
	return nil
}

// sayFallback says why the processor computes, where a GPU was asked for if there is one.
func sayFallback(c *cobra.Command, why string) {
	if why != "" {
		fmt.Fprintf(c.ErrOrStderr(), "device: the processor: %s\n", why)
	}
}
