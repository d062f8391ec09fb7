package report

import (
	"fmt"
	"math"
	"time"

	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/nl-hecate/hecate/command/internal/events"
)

// Board is a Sink that writes event files for TensorBoard, one for each attempt.
type Board struct {
	Dir   string
	names []string
	unit  string
	file  *events.Writer
}

// Begin makes the file.
func (b *Board) Begin(info engine.Info, bits []float64) (err error) {
	b.names, _ = Groups(info.Params)
	b.unit = info.Unit
	b.file, err = events.Create(b.Dir, len(bits)+1, time.Now())
	return err
}

// Step writes the numbers of a step.
func (b *Board) Step(s Step) error {
	list := []events.Scalar{
		{Tag: "loss/nats", Value: s.Nats}, {Tag: "loss/bits_per_" + b.unit, Value: s.Bits}, {Tag: "update/lr", Value: s.Rate},
		{Tag: "gradient/norm", Value: s.Norm}, {Tag: "speed/tokens_per_s", Value: s.Average}, {Tag: "speed/worst_tokens_per_s", Value: s.Worst},
	}
	for i, n := range b.names {
		if len(b.names) > 1 {
			list = append(list, events.Scalar{Tag: "gradient/" + n, Value: s.Groups[i]})
		}
	}
	for l, n := range s.Updates {
		list = append(list, events.Scalar{Tag: fmt.Sprintf("fires/level_%d", l), Value: float64(n)})
	}
	for _, l := range s.Levels {
		for _, x := range []struct {
			name  string
			value float64
		}{{"open", l.Open}, {"waiting", float64(l.Waiting)}, {"buffer_ratio", l.Ratio}, {"gradient", l.Gradient}, {"parameters", l.Parameter}, {"states", l.State}} {
			list = append(list, events.Scalar{Tag: fmt.Sprintf("level_%d/%s", l.Level, x.name), Value: x.value})
		}
	}
	return b.file.Scalars(time.Now(), s.Step.Step, list...)
}

// HeldOut writes a held-out loss.
func (b *Board) HeldOut(m Measured) error {
	if math.IsNaN(m.Bits) {
		return nil
	}
	return b.file.Scalars(time.Now(), m.Step, events.Scalar{Tag: "held_out/bits_per_" + b.unit, Value: m.Bits})
}

// Flush writes the buffered events.
func (b *Board) Flush() error { return b.file.Flush() }

// Close ends the file.
func (b *Board) Close() error {
	if b.file == nil {
		return nil
	}
	return b.file.Close()
}
