package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/nl-hecate/hecate/command/internal/engine"
)

// A Line is one step in a log of JSON lines. Numbers that JSON cannot have are
// null. A line with a held-out loss has only that and the step.
type Line struct {
	Step    int                `json:"step"`
	Tokens  int                `json:"tokens,omitempty"`
	Loss    *float64           `json:"loss,omitempty"` // nats per token, before the update
	Bits    *float64           `json:"bits_per_byte,omitempty"`
	Each    *float64           `json:"bits_per_token,omitempty"` // without bytes
	Rate    *float64           `json:"lr,omitempty"`
	Norm    *float64           `json:"grad_norm,omitempty"` // of all gradients, as the update got them
	Norms   map[string]float64 `json:"grad_norms,omitempty"`
	Average *float64           `json:"tokens_per_s,omitempty"` // of this attempt
	Worst   *float64           `json:"worst_tokens_per_s,omitempty"`
	Updates []int              `json:"fires,omitempty"`  // by level
	Levels  []engine.Level     `json:"levels,omitempty"` // of models with more than one
	HeldOut *float64           `json:"held_out_bits_per_byte,omitempty"`
	HeldTok *float64           `json:"held_out_bits_per_token,omitempty"`
}

// bits sets the loss of a step, in the unit of a build.
func (l *Line) bits(info engine.Info, x float64) {
	if info.Unit == "token" {
		l.Each = number(x)
	} else {
		l.Bits = number(x)
	}
}

// held is a line with a held-out loss.
func held(info engine.Info, step int, x float64) Line {
	if info.Unit == "token" {
		return Line{Step: step, HeldTok: number(x)}
	}
	return Line{Step: step, HeldOut: number(x)}
}

// number is a field that may have no value.
func number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// finite is the levels, nil if a number is NaN or infinite.
func finite(levels []engine.Level) []engine.Level {
	for _, l := range levels {
		for _, x := range []float64{l.Ratio, l.Gradient, l.Parameter, l.State} {
			if number(x) == nil {
				return nil
			}
		}
	}
	return levels
}

// JSONL is a Sink that writes one line for each step. It appends to an existing
// file, without its lines about steps that were not saved.
type JSONL struct {
	Path  string
	info  engine.Info
	names []string
	file  *os.File
	buf   *bufio.Writer
	last  time.Time
}

// Begin opens the file.
func (j *JSONL) Begin(info engine.Info, bits []float64) error {
	j.info = info
	j.names, _ = Groups(info.Params)
	old, err := kept(j.Path, len(bits))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(j.Path), 0o755); err != nil {
		return err
	}
	if j.file, err = os.Create(filepath.Join(filepath.Dir(j.Path), "."+filepath.Base(j.Path)+".tmp")); err != nil {
		return err
	}
	j.buf = bufio.NewWriter(j.file)
	_, err = j.buf.Write(old)
	err = errors.Join(err, j.buf.Flush(), j.file.Chmod(0o644))
	if err == nil {
		err = os.Rename(j.file.Name(), j.Path)
	}
	if err != nil {
		_ = os.Remove(j.file.Name())
	}
	return err
}

// kept are the lines of a log up to a step. A line that was cut short by a
// crash goes too.
func kept(path string, done int) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || done == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []byte
	for line := range bytes.Lines(data) {
		var l Line
		if json.Unmarshal(line, &l) != nil || l.Step > done || line[len(line)-1] != '\n' {
			continue
		}
		out = append(out, line...)
	}
	return out, nil
}

// Step writes a line.
func (j *JSONL) Step(s Step) error {
	l := Line{Step: s.Step.Step, Tokens: s.Tokens, Loss: number(s.Nats), Rate: number(s.Rate), Norm: number(s.Norm),
		Average: number(s.Average), Worst: number(s.Worst), Updates: s.Updates, Levels: finite(s.Levels)}
	l.bits(j.info, s.Bits)
	if len(j.names) > 1 {
		l.Norms = map[string]float64{}
		for i, n := range j.names {
			if x := number(s.Groups[i]); x != nil {
				l.Norms[n] = *x
			}
		}
	}
	return j.line(l)
}

// HeldOut writes a line.
func (j *JSONL) HeldOut(m Measured) error {
	return j.line(held(j.info, m.Step, m.Bits))
}

// line writes a line to the buffer, and every second the buffer to the file.
func (j *JSONL) line(l Line) error {
	b, err := json.Marshal(l)
	if err != nil {
		panic("report: BUG: a line does not print: " + err.Error())
	}
	if _, err := j.buf.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("%s: %w", j.Path, err)
	}
	if now := time.Now(); now.Sub(j.last) >= time.Second {
		j.last = now
		return j.Flush()
	}
	return nil
}

// Flush writes the buffer to the file.
func (j *JSONL) Flush() error {
	if err := j.buf.Flush(); err != nil {
		return fmt.Errorf("%s: %w", j.Path, err)
	}
	return nil
}

// Close ends the file.
func (j *JSONL) Close() error {
	if j.file == nil {
		return nil
	}
	return errors.Join(j.Flush(), j.file.Close())
}
