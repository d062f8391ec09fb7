package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/nl-hecate/hecate/cmd/hecate/internal/engine"
	"github.com/nl-hecate/hecate/cmd/hecate/internal/progress"
	"github.com/spf13/cobra"
)

// streamed is how far a stream is.
type streamed struct {
	Position int     `json:"position"` // bytes that the context has seen
	Bits     float64 `json:"bits_per_byte"`
	Recent   float64 `json:"recent_bits_per_byte"` // since the last line
	Average  float64 `json:"tokens_per_s"`
	Worst    float64 `json:"worst_tokens_per_s"`
	Hash     string  `json:"context"`
}

func (x streamed) String() string {
	return fmt.Sprintf("%s bytes, %.3f bits/byte, the last %.3f, %s tokens/s, worst %s, context %s\n",
		progress.Count(x.Position), x.Bits, x.Recent, progress.Count(int64(x.Average)), progress.Count(int64(x.Worst)), x.Hash)
}

// sessions opens texts that are read in parts.
type sessions interface {
	NewSession(checkpoint, text string, chunk int, saved string) (engine.Session, error)
}

// streamCommand is `hecate stream`.
func streamCommand(maker interface {
	engine.Maker
	sessions
}) *cobra.Command {
	var text, saved string
	var chunk, every int
	var asJSON bool
	c := &cobra.Command{
		Use: "stream CHECKPOINT [flags]", Short: "Read a text with a memory that goes on, and say how well it is predicted",
		Long: `Read a text with a memory that goes on, and say how well it is predicted: every
byte from those before it, in one context. The memory is rewritten while the
model reads; parameters do not move. The digest of the context at the end is that
of everything the memory holds. A signal ends the stream with what it has.

With --session the memory and the place in the text are saved, at each line and at
the end, and the next call goes on from there, to the last bit. A session of other
parameters or of another text is refused.`,
		Args:              exactly(1, "a checkpoint"),
		ValidArgsFunction: completeCheckpoints,
		RunE: func(c *cobra.Command, args []string) error {
			if every < 1 || chunk < 0 {
				return misuse{fmt.Errorf("--every is %d and --chunk %d, must be at least 1 and 0", every, chunk)}
			}
			r, err := maker.NewReader(args[0])
			if err != nil {
				return err
			}
			if chunk == 0 {
				chunk = max(r.Info().Chunk, 1)
			}
			say := func(x streamed) error {
				if asJSON {
					return printLine(c.OutOrStdout(), x)
				}
				_, err := fmt.Fprint(c.OutOrStdout(), x)
				return err
			}
			if saved != "" && text == "-" {
				return misuse{errors.New("--session needs --text: the standard input has no place to go on from")}
			}
			if saved != "" {
				s, err := maker.NewSession(args[0], text, chunk, saved)
				if err != nil {
					return err
				}
				return followSession(c.Context(), s, saved, every, say)
			}
			in := c.InOrStdin()
			if text != "-" {
				f, err := os.Open(text)
				if err != nil {
					return err
				}
				defer f.Close()
				in = f
			}
			return follow(c.Context(), r, in, chunk, every, say)
		},
	}
	f := c.Flags()
	f.StringVar(&saved, "session", "", "`file` to go on from, if it is there, and to save the memory to")
	f.StringVar(&text, "text", "-", "`file` to read; - is the standard input")
	f.IntVar(&chunk, "chunk", 0, "`tokens` of a call; by default those of the build")
	f.IntVar(&every, "every", 1<<16, "`bytes` between two lines")
	f.BoolVar(&asJSON, "json", false, "print one object a line")
	return c
}

// follow reads to the end and says how it goes.
func follow(ctx context.Context, r engine.Reader, in io.Reader, chunk, every int, say func(streamed) error) error {
	buf := make([]byte, chunk)
	var meter progress.Meter
	var nats, recent float64
	predicted, since := 0, 0
	line := func() error {
		hash, err := r.Hash()
		if err != nil {
			return err
		}
		x := streamed{Position: r.Position(), Bits: per(nats, predicted), Recent: per(recent, since), Average: meter.Average(), Worst: meter.Worst(), Hash: hash}
		recent, since = 0, 0
		return say(x)
	}
	for {
		n, readErr := io.ReadFull(in, buf)
		began := time.Now()
		more, count, err := r.Read(ctx, buf[:n], chunk)
		if errors.Is(err, context.Canceled) {
			break
		}
		if err != nil {
			return err
		}
		meter.Add(n, time.Since(began))
		nats, recent = nats+more, recent+more
		predicted, since = predicted+count, since+count
		if readErr == io.EOF || readErr == io.ErrUnexpectedEOF {
			break
		}
		if readErr != nil {
			return readErr
		}
		if since >= every {
			if err := line(); err != nil {
				return err
			}
		}
	}
	if r.Position() == 0 {
		return errors.New("the text is empty")
	}
	return line()
}

// followSession reads a text to its end, or until a signal, and saves.
func followSession(ctx context.Context, s engine.Session, saved string, every int, say func(streamed) error) error {
	var meter progress.Meter
	var nats, recent float64
	predicted, since := 0, 0
	line := func() error {
		hash, err := s.Hash()
		if err == nil {
			err = s.Save(saved)
		}
		if err != nil {
			return err
		}
		x := streamed{Position: s.Position(), Bits: per(nats, predicted), Recent: per(recent, since), Average: meter.Average(), Worst: meter.Worst(), Hash: hash}
		recent, since = 0, 0
		return say(x)
	}
	for ctx.Err() == nil {
		began, at := time.Now(), s.Position()
		more, n, ok, err := s.Step()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		meter.Add(s.Position()-at, time.Since(began))
		nats, recent, predicted, since = nats+more, recent+more, predicted+n, since+n
		if since >= every {
			if err := line(); err != nil {
				return err
			}
		}
	}
	return line()
}

// per is bits for each of n, 0 of none.
func per(nats float64, n int) float64 { return nats / math.Ln2 / float64(max(n, 1)) }
