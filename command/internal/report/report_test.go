package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/nl-hecate/hecate/command/internal/progress"
)

var info = engine.Info{Model: "M", Text: "t", Batch: 2, Chunk: 5, Unit: "byte", Unigram: 4, Bigram: 3, Params: []engine.Param{
	{Name: "E", Size: 3}, {Name: "a.W", Block: "a", Size: 2}, {Name: "a.V", Block: "a", Size: 2}}}

// step is a step with all that it can have.
func step(n int) Step {
	return Step{Step: engine.Step{Step: n, Tokens: 10 * n, Nats: 2, Bits: 2 / math.Ln2, Rate: 0.5, Norm: 5, Updates: []int{n, n / 2},
		Levels: []engine.Level{{Open: 1}, {Level: 1, Open: 0.25, Waiting: 3, Ratio: 12, Parameter: 7, State: 2}}}, Average: 100, Worst: 50, Groups: []float64{3, 4}}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestGroups(t *testing.T) {
	names, of := Groups(info.Params)
	if !slices.Equal(names, []string{"model", "a"}) || !slices.Equal(of, []int{0, 1, 1}) {
		t.Errorf("%q, %v", names, of)
	}
	if got := Norms([]float64{2, 3, 4}, of, 2); !slices.Equal(got, []float64{2, 5}) {
		t.Errorf("norms %v", got)
	}
	names, of = Groups([]engine.Param{{Name: "E"}, {Name: "x", Level: 2}, {Name: "y.z", Block: "y", Level: 2}})
	if !slices.Equal(names, []string{"level 0", "level 2"}) || !slices.Equal(of, []int{0, 1, 1}) {
		t.Errorf("%q, %v", names, of)
	}
}

// logged runs a log from a step on.
func logged(t *testing.T, path string, done int, steps ...Step) []Line {
	t.Helper()
	j := &JSONL{Path: path}
	check(t, j.Begin(info, make([]float64, done)))
	for _, s := range steps {
		check(t, j.Step(s))
		if s.Step.Step == 2 {
			check(t, j.HeldOut(Measured{Step: 2, Bits: 1.5}))
		}
	}
	check(t, j.Close())
	data, err := os.ReadFile(path)
	check(t, err)
	var out []Line
	for line := range bytes.Lines(data) {
		var l Line
		check(t, json.Unmarshal(line, &l))
		out = append(out, l)
	}
	return out
}

// TestJSONL writes a log, crashes in the middle of a line, and goes on from an
// earlier step: every step is there once, and nothing of what was lost.
func TestJSONL(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "log.jsonl")
	all := logged(t, path, 0, step(1), step(2), step(3))
	if len(all) != 4 || *all[2].HeldOut != 1.5 || all[2].Bits != nil {
		t.Errorf("%+v", all)
	}
	want := Line{Step: 3, Tokens: 30, Loss: number(2), Bits: number(2 / math.Ln2), Rate: number(0.5), Norm: number(5), Norms: map[string]float64{"model": 3, "a": 4},
		Average: number(100), Worst: number(50), Updates: []int{3, 1}, Levels: step(3).Levels}
	if !reflect.DeepEqual(all[3], want) {
		t.Errorf("%+v, want %+v", all[3], want)
	}
	for _, cut := range []string{`{"step":1,"tok`, `{"step":1}`} {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		check(t, err)
		_, err = f.WriteString(cut)
		check(t, errors.Join(err, f.Close()))
		var numbers []int
		for _, l := range logged(t, path, 2, step(3), step(4)) {
			numbers = append(numbers, l.Step)
		}
		if !slices.Equal(numbers, []int{1, 2, 2, 3, 4}) {
			t.Errorf("steps %v behind %s", numbers, cut)
		}
	}
	bad := step(1)
	bad.Nats, bad.Norm, bad.Groups, bad.Levels[1].State = math.NaN(), math.Inf(1), []float64{math.NaN(), 1}, math.NaN()
	if l := logged(t, path, 0, bad); len(l) != 1 || l[0].Levels != nil || l[0].Loss != nil || l[0].Norm != nil || len(l[0].Norms) != 1 {
		t.Errorf("%+v", l)
	}
	j := &JSONL{Path: filepath.Join(path, "under a file")}
	if err := errors.Join(j.Begin(info, nil), j.Close()); err == nil {
		t.Error("a log under a file was begun")
	}
}

func TestBoard(t *testing.T) {
	dir := t.TempDir()
	b := &Board{Dir: dir}
	check(t, b.Begin(info, nil))
	check(t, errors.Join(b.Step(step(1)), b.HeldOut(Measured{1, 3}), b.HeldOut(Measured{1, math.NaN()}), b.Flush(), b.Close()))
	files, err := filepath.Glob(filepath.Join(dir, "events.out.tfevents.*"))
	check(t, err)
	data, err := os.ReadFile(files[0])
	check(t, err)
	for _, tag := range []string{"loss/bits_per_byte", "gradient/norm", "gradient/a", "fires/level_1", "level_1/open", "level_1/buffer_ratio", "level_0/states", "speed/worst_tokens_per_s", "held_out/bits_per_byte"} {
		if bytes.Count(data, []byte(tag)) != 1 {
			t.Errorf("%s stands there %d times", tag, bytes.Count(data, []byte(tag)))
		}
	}
}

// TestPlots draws the losses of all steps, and norms and gates where there are
// any.
func TestPlots(t *testing.T) {
	p := &Plots{Stem: "x"}
	check(t, p.Begin(info, []float64{5, 4}))
	files, err := p.Draw(math.NaN(), math.NaN())
	if err != nil || len(files) != 2 || len(p.bits) != 2 {
		t.Errorf("%d files, %d losses (%v)", len(files), len(p.bits), err)
	}
	check(t, errors.Join(p.Step(step(3)), p.Step(step(4))))
	files, err = p.Draw(8, 3)
	check(t, err)
	if len(p.bits) != 4 {
		t.Errorf("%d losses of 4 steps", len(p.bits))
	}
	for _, name := range []string{"x.svg", "x.png", "x-norms.svg", "x-norms.png", "x-gates.svg", "x-gates.png", "x-levels.svg", "x-levels.png"} {
		if len(files[name]) == 0 {
			t.Errorf("no %s", name)
		}
	}
	if !bytes.Contains(files["x-norms.svg"], []byte(">a<")) || !bytes.Contains(files["x-gates.svg"], []byte(">level 1<")) || !bytes.Contains(files["x-levels.svg"], []byte(">states, level 1<")) {
		t.Error("a group has no name in its plot")
	}
}

// TestConsole prints lines of text, or one object a line, for the same.
func TestConsole(t *testing.T) {
	tell := func(asJSON bool) string {
		var w bytes.Buffer
		c := &Console{W: &w, JSON: asJSON, Steps: 4}
		check(t, c.Begin(info, nil))
		check(t, c.Before(8))
		check(t, c.Step(step(1)))
		check(t, c.HeldOut(Measured{1, 2.5}))
		check(t, c.Note("go on", "do %d", 3))
		check(t, c.Step(step(2)))
		check(t, c.Built(&progress.Meter{}))
		check(t, c.Levels(step(2).Levels))
		check(t, c.After(1, 8, 2.25))
		check(t, c.Sample([]byte("a\x00b")))
		check(t, c.Close())
		return w.String()
	}
	text := tell(false)
	for _, want := range []string{"M: 7 parameters", "before:   8.000 bits/byte", "   25 %  step 1, 2.885 bits/byte, 100 tokens/s, worst 50", "step 1:  2.500 bits/byte",
		"go on:    do 3\n", "warning:  step 1: the buffered gradient of level 1 is 12.0 times as long as 3 gradients",
		"level 1:  updated 0 times, open in 0.0 % of the chunks, 3 gradients buffered (ratio 12); norms: gradient 0, parameters 7, states 2\n", "after:    2.250 bits/byte on the held-out part (before 8.000, unigram 4.000, bigram 3.000)", "\na·b\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	var kinds []string
	for line := range strings.Lines(tell(true)) {
		var e Event
		check(t, json.Unmarshal([]byte(line), &e))
		kinds = append(kinds, e.Event)
	}
	if want := []string{"begin", "held_out", "note", "progress", "held_out", "note", "progress", "built", "level", "level", "held_out", "sample"}; !slices.Equal(kinds, want) {
		t.Errorf("%q, want %q", kinds, want)
	}
}

// TestAll tells every sink, and joins what they have to say.
func TestAll(t *testing.T) {
	p := &Plots{}
	all := All{&JSONL{Path: filepath.Join(os.DevNull, "x")}, p}
	if err := all.Begin(info, []float64{1}); err == nil {
		t.Error("nothing is wrong with a log in a device")
	}
	if len(p.bits) != 1 {
		t.Error("a sink after one that failed was not told")
	}
}

func TestPrintable(t *testing.T) {
	if got, want := Printable([]byte("a\nρ\x00\xff\x1b[0m")), "a\nρ···[0m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
