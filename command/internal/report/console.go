package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/nl-hecate/hecate/command/internal/progress"
)

// Console is a Sink that prints, as text with a bar or as one JSON object for
// each line.
type Console struct {
	W        io.Writer
	JSON     bool
	Steps    int           // of the whole build
	Limit    time.Duration // of the build, 0 for none
	Interval time.Duration // between two lines of progress
	info     engine.Info
	first    int
	before   float64
	bar      *progress.Bar
	recent   []float64 // the last losses
	last     Step
	warned   bool // of a level with a stale gradient
}

// worstRatio is the ratio of a level's buffer above which a warning is printed.
const worstRatio = 10

// Event is a line in JSON.
type Event struct {
	Event   string         `json:"event"`          // begin, progress, held_out, built, level, sample, note
	Word    string         `json:"word,omitempty"` // of a note: stopped, resume, wrote, go on
	Message string         `json:"message,omitempty"`
	Info    *engine.Info   `json:"info,omitempty"`
	Line                   // of the step
	Extra   map[string]any `json:"extra,omitempty"`
}

// Begin prints the model and its input.
func (c *Console) Begin(info engine.Info, bits []float64) error {
	c.info, c.first, c.before, c.recent = info, len(bits), math.NaN(), bits
	c.last.Step.Step = len(bits)
	if c.JSON {
		return c.json(Event{Event: "begin", Info: &info, Line: Line{Step: len(bits)}})
	}
	n := 0
	for _, p := range info.Params {
		n += p.Size
	}
	_, err := fmt.Fprintf(c.W, "%s: %s parameters (%s), %s (%s), %s\ntext:     %s (%s %ss)\n"+
		"held out: the last %s %ss; counts of the rest give %.3f bits/%s (unigram), %.3f (bigram)\n",
		info.Model, progress.Count(n), info.Sizes, info.ArithmeticText(), info.Device, info.MovedBy, info.Text, progress.Count(info.TextBytes), info.Unit,
		progress.Count(info.HeldOut), info.Unit, info.Unigram, info.Unit, info.Bigram)
	if err == nil && len(info.Periods) > 1 {
		_, err = fmt.Fprintf(c.W, "levels:   %d, with periods %v in %s, %s\n", len(info.Periods), info.Periods, info.Counts, info.Buffer)
	}
	if err == nil && info.Fallback != "" {
		_, err = fmt.Fprintf(c.W, "device:   the processor: %s\n", info.Fallback)
	}
	if err == nil {
		_, err = fmt.Fprintf(c.W, "plan:     %s\n", Plan(&info, c.Limit))
	}
	if w := Unread(&info); err == nil && w != "" {
		err = c.Note("warning", "%s", w)
	}
	if err == nil && info.Forgetful > 0 {
		_, err = fmt.Fprintf(c.W, "optimum:  %.3f bits/%s; %.3f without memory\n", info.Optimum, info.Unit, info.Forgetful)
	}
	return err
}

// Before prints the held-out loss before the first step.
func (c *Console) Before(bits float64) error {
	c.before = bits
	if c.JSON {
		return c.json(Event{Event: "held_out", Line: held(c.info, 0, bits)})
	}
	_, err := fmt.Fprintf(c.W, "before:   %.3f bits/%s on the held-out part\n", bits, c.info.Unit)
	return err
}

// Step moves the bar, or prints a line now and then.
func (c *Console) Step(s Step) error {
	c.last = s
	c.recent = append(c.recent, s.Bits)
	if c.bar == nil {
		c.bar = progress.New(c.W)
		c.bar.Every(c.Interval)
		c.bar.From(float64(c.first) / float64(max(c.Steps, 1)))
	}
	for _, l := range s.Levels {
		if l.Ratio > worstRatio && !c.warned {
			c.warned = true
			if err := c.Note("warning", "step %d: the buffered gradient of level %d is %.1f times as long as %d gradients without a common direction; the level's update is stale",
				s.Step.Step, l.Level, l.Ratio, l.Waiting); err != nil {
				return err
			}
		}
	}
	if c.JSON {
		if !c.bar.Due() {
			return nil
		}
		l := Line{Step: s.Step.Step, Tokens: s.Tokens, Loss: number(s.Nats), Norm: number(s.Norm), Average: number(s.Average), Worst: number(s.Worst), Updates: s.Updates}
		l.bits(c.info, c.mean())
		return c.json(Event{Event: "progress", Line: l})
	}
	c.bar.Set(float64(s.Step.Step)/float64(max(c.Steps, 1)), func() string {
		return fmt.Sprintf("step %d, %.3f bits/%s, %s tokens/s, worst %s", s.Step.Step, c.mean(), c.info.Unit, whole(s.Average), whole(s.Worst))
	})
	return nil
}

// mean is the mean of the last losses.
func (c *Console) mean() float64 {
	c.recent = c.recent[max(0, len(c.recent)-50):]
	sum := 0.0
	for _, x := range c.recent {
		sum += x
	}
	return sum / float64(len(c.recent))
}

func whole(x float64) string { return progress.Count(int64(x)) }

// HeldOut prints a held-out loss between steps.
func (c *Console) HeldOut(m Measured) error {
	if m.Step == 0 {
		return nil // Before prints it
	}
	if c.JSON {
		return c.json(Event{Event: "held_out", Line: held(c.info, m.Step, m.Bits)})
	}
	c.clear()
	_, err := fmt.Fprintf(c.W, "step %d:  %.3f bits/%s on the held-out part\n", m.Step, m.Bits, c.info.Unit)
	return err
}

// clear removes the bar, so that a line is printed alone.
func (c *Console) clear() {
	if c.bar != nil {
		c.bar.Done()
	}
}

// Built prints the number of tokens and the speed.
func (c *Console) Built(m *progress.Meter) error {
	c.clear()
	tokens := (c.last.Step.Step - c.first) * c.info.PerStep()
	if c.JSON {
		return c.json(Event{Event: "built", Line: Line{Step: c.last.Step.Step, Tokens: tokens, Average: number(m.Average()), Worst: number(m.Worst())}})
	}
	_, err := fmt.Fprintf(c.W, "built:    %s tokens in %s, %s tokens/s, worst %s; read %s\n", progress.Count(tokens), progress.Clock(m.Time()),
		whole(m.Average()), whole(m.Worst()), share(&c.info, c.last.Step.Step))
	return err
}

// After prints the final held-out loss and the losses to compare it with.
func (c *Console) After(step int, before, after float64) error {
	if c.JSON {
		return c.json(Event{Event: "held_out", Line: held(c.info, step, after),
			Extra: map[string]any{"before": number(before), "unigram": number(c.info.Unigram), "bigram": number(c.info.Bigram)}})
	}
	_, err := fmt.Fprintf(c.W, "after:    %.3f bits/%s on the held-out part (before %.3f, unigram %.3f, bigram %.3f)\n", after, c.info.Unit, before, c.info.Unigram, c.info.Bigram)
	return err
}

// Levels prints each level at the end, if there is more than one.
func (c *Console) Levels(levels []engine.Level) error {
	if len(levels) < 2 {
		return nil
	}
	for _, l := range levels {
		if c.JSON {
			if err := c.json(Event{Event: "level", Line: Line{Step: c.last.Step.Step, Levels: finite([]engine.Level{l})}}); err != nil {
				return err
			}
			continue
		}
		by := ""
		if l.Gated {
			by = " by its gate"
		}
		if err := c.Note(fmt.Sprintf("level %d", l.Level), "updated %s times, open in %.1f %% of the chunks%s, %s gradients buffered (ratio %.2g); norms: gradient %.3g, parameters %.4g, states %.4g",
			progress.Count(l.Updates), 100*l.Share, by, progress.Count(l.Waiting), l.Ratio, l.Gradient, l.Parameter, l.State); err != nil {
			return err
		}
	}
	return nil
}

// Sample prints generated text.
func (c *Console) Sample(text []byte) error {
	if c.JSON {
		return c.json(Event{Event: "sample", Message: Printable(text)})
	}
	_, err := fmt.Fprintf(c.W, "\n%s\n\n", Printable(text))
	return err
}

// Note prints a line after a word.
func (c *Console) Note(word, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	if c.JSON {
		return c.json(Event{Event: "note", Word: word, Message: message, Line: Line{Step: c.last.Step.Step}})
	}
	c.clear()
	_, err := fmt.Fprintf(c.W, "%-9s %s\n", word+":", message)
	return err
}

// Wrote lists files, a line for each, quoted for a shell.
func (c *Console) Wrote(paths []string) error {
	if !c.JSON {
		c.clear()
		_, err := fmt.Fprintf(c.W, "wrote:\n%s\n", strings.Join(paths, "\n"))
		return err
	}
	for _, p := range paths {
		if err := c.Note("wrote", "%s", p); err != nil {
			return err
		}
	}
	return nil
}

func (c *Console) json(e Event) error {
	b, err := json.Marshal(e)
	if err != nil {
		panic("report: BUG: a line does not print: " + err.Error())
	}
	_, err = c.W.Write(append(b, '\n'))
	return err
}

// Flush has nothing to do: everything is printed at once.
func (c *Console) Flush() error { return nil }

// Close removes the bar.
func (c *Console) Close() error {
	c.clear()
	return nil
}
