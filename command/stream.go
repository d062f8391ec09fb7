package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/nl-hecate/hecate/command/internal/progress"
	"github.com/spf13/cobra"
)

// streamed is the progress of a stream.
type streamed struct {
	Position int     `json:"position"` // tokens that the context has seen
	Bits     float64 `json:"bits"`
	Recent   float64 `json:"recent_bits"` // since the last line
	Unit     string  `json:"unit"`        // of the bits: byte, or token without bytes
	Average  float64 `json:"tokens_per_s"`
	Worst    float64 `json:"worst_tokens_per_s"`
	Hash     string  `json:"context"`
}

func (x streamed) String() string {
	return fmt.Sprintf("%s tokens, %.3f bits/%s, the last %.3f, %s tokens/s, worst %s, context %s\n",
		progress.Count(x.Position), x.Bits, x.Unit, x.Recent, progress.Count(int64(x.Average)), progress.Count(int64(x.Worst)), x.Hash)
}

// streaming is the options of `hecate stream`.
type streaming struct {
	text   engine.Text
	saved  string
	chunk  int
	every  int
	asJSON bool
}

// streamCommand is `hecate stream`.
func streamCommand(maker engine.Maker) *cobra.Command {
	var s streaming
	c := &cobra.Command{
		Use: "stream CHECKPOINT [flags]", Short: "Read a text in one context and report how well it is predicted",
		Long: `Read a text in one context and report how well it is predicted: every token from
those before it, each level of the model at its own frequency. The context memory
changes while the model reads; parameters do not. The digest of the context at the
end covers the whole memory. A signal ends the stream and reports what was read.

Without --text it reads the standard input, piece by piece where tokens are bytes; or
the whole of a synthetic source, if the model was built on one.

With --session the memory and the position in the text are saved, at each line and
at the end, and the next call resumes there, bit for bit. A session with other
parameters or another text is refused.`,
		Args:              exactly(1, "a checkpoint"),
		ValidArgsFunction: completeCheckpoints,
		RunE: func(c *cobra.Command, args []string) error {
			if s.every < 1 || s.chunk < 0 {
				return misuse{fmt.Errorf("--every is %d and --chunk %d, must be at least 1 and 0", s.every, s.chunk)}
			}
			if err := checkDevice(s.text.Device); err != nil {
				return err
			}
			return s.run(c, maker, args[0])
		},
	}
	textFlags(c, &s.text)
	f := c.Flags()
	f.Lookup("text").Usage = "`file` to read, of the kind that the model was built on; may be repeated; by default the standard input"
	f.StringVar(&s.saved, "session", "", "`file` to resume from, if it exists, and to save the memory to")
	f.IntVar(&s.chunk, "chunk", 0, "`tokens` of a call; 0: as in the build")
	f.IntVar(&s.every, "every", 1<<16, "`number` of bytes, or of tokens without bytes, between two lines")
	f.BoolVar(&s.asJSON, "json", false, "print one JSON object per line")
	return c
}

// run reads a text as a session, or the standard input with a reader.
func (s *streaming) run(c *cobra.Command, maker engine.Maker, path string) (err error) {
	r, err := maker.NewReader(path, s.text.Tokenizer, s.text.Device)
	if err != nil {
		return err
	}
	open := io.Closer(r)
	defer func() { err = errors.Join(err, open.Close()) }()
	info := r.Info()
	sayFallback(c, info.Fallback)
	if s.chunk == 0 {
		s.chunk = max(info.Chunk, 1)
	}
	say := func(x streamed) error {
		x.Unit = info.Unit
		if s.asJSON {
			return printLine(c.OutOrStdout(), x)
		}
		_, err := fmt.Fprint(c.OutOrStdout(), x)
		return err
	}
	stdin := slices.Equal(s.text.Paths, []string{"-"}) || len(s.text.Paths) == 0 && info.Stream != "synthetic"
	if stdin && s.saved != "" {
		return misuse{errors.New("--session needs --text: the standard input has no position to resume from")}
	}
	if !stdin {
		if err := r.Close(); err != nil { // the device is the session's now
			return err
		}
		of, err := maker.NewSession(path, s.text, s.chunk, s.saved)
		if err != nil {
			return err
		}
		open = of
		return followSession(c.Context(), of, s.saved, s.every, say)
	}
	next := pieces(c.InOrStdin(), r, s.chunk)
	if info.Stream != "bytes" { // the tokens depend on where the text is cut
		next = all(c.InOrStdin(), r, s.chunk)
	}
	return follow(c.Context(), r, next, s.chunk, s.every, say)
}

// pieces returns the bytes of a reader, as many as a call has. The first piece has one
// more, since its last token is not processed before the next one is known.
func pieces(in io.Reader, r engine.Reader, chunk int) func() ([]int32, error) {
	buf := make([]byte, chunk+1)
	return func() ([]int32, error) {
		n, err := io.ReadFull(in, buf)
		buf = buf[:chunk]
		ids, e := r.Encode(buf[:n])
		if err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		return ids, errors.Join(e, err)
	}
}

// all reads everything before it returns pieces.
func all(in io.Reader, r engine.Reader, chunk int) func() ([]int32, error) {
	var ids []int32
	n, begun := chunk+1, false
	return func() (out []int32, err error) {
		if !begun {
			begun = true
			text, err := io.ReadAll(in)
			if err == nil {
				ids, err = r.Encode(text)
			}
			if err != nil {
				return nil, err
			}
		}
		n = min(n, len(ids))
		out, ids, n = ids[:n], ids[n:], chunk
		if len(ids) == 0 {
			err = io.EOF
		}
		return out, err
	}
}

// A score adds up what was read and how well it was predicted.
type score struct {
	meter            progress.Meter
	nats, recent     float64 // of all tokens, and since the last line
	predicted, since int     // tokens, likewise
}

func (s *score) add(tokens int, took time.Duration, nats float64, predicted int) {
	s.meter.Add(tokens, took)
	s.nats, s.recent = s.nats+nats, s.recent+nats
	s.predicted, s.since = s.predicted+predicted, s.since+predicted
}

// line is the progress at a position with a context, and begins a new line.
func (s *score) line(position int, context string) streamed {
	x := streamed{Position: position, Bits: per(s.nats, s.predicted), Recent: per(s.recent, s.since),
		Average: s.meter.Average(), Worst: s.meter.Worst(), Hash: context}
	s.recent, s.since = 0, 0
	return x
}

// follow reads to the end and reports progress.
func follow(ctx context.Context, r engine.Reader, next func() ([]int32, error), chunk, every int, say func(streamed) error) error {
	var sum score
	line := func() error {
		hash, err := r.Hash()
		if err != nil {
			return err
		}
		return say(sum.line(r.Position(), hash))
	}
	for {
		ids, readErr := next()
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			return readErr
		}
		began := time.Now()
		nats, count, err := r.Read(ctx, ids, chunk)
		if errors.Is(err, context.Canceled) {
			break
		}
		if err != nil {
			return err
		}
		sum.add(len(ids), time.Since(began), nats, count)
		if readErr != nil {
			break
		}
		if sum.since >= every {
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

// followSession reads a text to its end, or until a signal, and saves the session if
// saved is a path.
func followSession(ctx context.Context, s engine.Session, saved string, every int, say func(streamed) error) error {
	var sum score
	line := func() error {
		hash, err := s.Hash()
		if err == nil && saved != "" {
			err = s.Save(saved)
		}
		if err != nil {
			return err
		}
		return say(sum.line(s.Position(), hash))
	}
	for ctx.Err() == nil {
		began, at := time.Now(), s.Position()
		nats, count, ok, err := s.Step()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		sum.add(s.Position()-at, time.Since(began), nats, count)
		if sum.since >= every {
			if err := line(); err != nil {
				return err
			}
		}
	}
	return line()
}

// per is nats in bits per item, 0 without items.
func per(nats float64, n int) float64 { return nats / math.Ln2 / float64(max(n, 1)) }
