package protocol

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/formula"
	"github.com/nl-hecate/hecate/runtime/gradcheck"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// Class 2: the tape's gradient of every parameter and of the embedding, and, of the
// block alone, of its input, against differences of the forward in float64, by the
// criterion of package gradcheck. An embedding has a gradient at the rows that the
// tokens name; the input of the block has one at every entry.
//
// One gradient is no derivative, and is held by Class 3 alone: that of a parameter with
// a stopped value after it (irbuild.Stopped: the gates of CMSGated).

// kinks is how large a share of the compared entries may lie at one.
const kinks = 0.02

// entries is how many entries of a tensor are compared in one scenario. Which ones is
// drawn again for each; the whole product comes by every tensor so often that one does.
func entries() int {
	if full() {
		return 1
	}
	return 4
}

// A scenario may be at a point where its own slope changes within the steps of a difference: the
// orthogonal momentum takes a matrix that is nearly of rank one to one that is not, and
// a chain of memories takes numbers to a high power. So one that fails is drawn again
// with larger tables, then with smaller ones, and few may: what is wrong fails each time.
const redrawn = 3

var redraws = []float64{1.5, 2, 0.5}

// TestDifferences is Class 2 of every scenario, or of each third, contexts of both ages in
// turn.
func TestDifferences(t *testing.T) {
	t.Parallel()
	var n tally
	again := 0
	for i, x := range scenarios() {
		if testing.Short() && i%3 != 0 {
			continue
		}
		how := mixed
		if i%2 == 1 {
			how = old
		}
		s := newSubject[float64](t, x, small(x), 4)
		s.grow(how)
		bad := differences(t, s, &n)
		if len(bad) > 0 {
			again++
		}
		for _, gain := range redraws {
			if len(bad) == 0 {
				break
			}
			t.Logf("drawn again, times %v: %s", gain, bad[0])
			s = newSubject[float64](t, x, small(x), 4)
			s.draw(fmt.Sprint(" again ", gain))
			s.louder(gain)
			s.tokens(s.steps, "")
			s.grow(how)
			bad = differences(t, s, &n)
		}
		for _, r := range bad {
			t.Error(r)
		}
	}
	n.report(t)
	if again > redrawn && !full() {
		t.Errorf("%d scenarios were drawn again", again)
	}
}

// differences returns the reports of tensors with an entry that fails.
func differences(t *testing.T, s *subject[float64], n *tally) (bad []gradcheck.Report) {
	t.Helper()
	var ds diag.List
	f := irbuild.WholeAt(blockOf(t, s.x.formula()), s.x.closed, &ds)
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	stopped := irbuild.Stopped(f)
	for i := range stopped {
		if s.bare() {
			stopped[i] = strings.TrimPrefix(stopped[i], "block.")
		}
	}
	if (len(stopped) > 0) != (s.x.schedule == gated) {
		t.Errorf("%v: stopped values after %v", s.x, stopped)
	}
	grads := s.backward().grads
	v := s.set.View()
	for i := range v.Len() {
		if p := v.Param(i); !p.Fixed && len(v.Data(i)) > 0 && !slices.Contains(stopped, p.Name) {
			x := slices.Clone(v.Data(i))
			bad = append(bad, n.check(fmt.Sprintf("%v: %s", s.x, p.Name), s.lossAt(i, x), x, grads[p.Name])...)
			s.put(i, x)
		}
	}
	return append(bad, input(t, s, n)...)
}

// lossAt is the value of the call as a function of one parameter, which is read from x.
func (s *subject[F]) lossAt(i int, x []F) func() float64 {
	return func() float64 {
		s.put(i, x)
		return s.value(s.forward())
	}
}

// put gives one parameter its values.
func (s *subject[F]) put(i int, x []F) {
	s.write(func(j int, _ context.Param, data []F) {
		if j == i {
			copy(data, x)
		}
	})
}

// bare reports whether the table of parameters does not name the model's block.
func (s *subject[F]) bare() bool { return s.mem.Parts[0].Name == "block" }

// first is the model's block, or the first of several, alone: with the model's
// parameters and memory.
func (s *subject[F]) first() (block.Block[F], *context.ParamSet[F], *block.Memory[F]) {
	s.t.Helper()
	prefix, sizes := "", map[string]int{}
	if !s.bare() {
		prefix = s.mem.Parts[0].Name + "."
	}
	for name, n := range s.sizes.emit {
		if own, ok := strings.CutPrefix(name, prefix); ok && name != "V" && name != "d" {
			sizes[own] = n
		}
	}
	f, err := formula.Parse(s.x.formula())
	if err != nil {
		s.t.Fatal(err)
	}
	b, err := registry.NewBlock[F](f.Args[0].Pages[0].String(), block.NewSizes(sizes), s.sizes.emit["d"])
	if err != nil {
		s.t.Fatal(err)
	}
	set := new(context.ParamSet[F])
	if err := b.Declare(set, ""); err != nil {
		s.t.Fatal(err)
	}
	s.lend(set, prefix)
	return b, set, s.mem.Parts[0].Memory.Clone()
}

// lend copies the model's parameters into the table of a part.
func (s *subject[F]) lend(to *context.ParamSet[F], prefix string) {
	s.t.Helper()
	all := s.set.View()
	written(s.t, to, func(_ int, p context.Param, data []F) {
		at, err := all.Index(prefix + p.Name)
		if err != nil {
			s.t.Fatal(err)
		}
		copy(data, all.Data(at))
	})
}

// input holds the gradient of the block's input.
func input(t *testing.T, s *subject[float64], n *tally) []gradcheck.Report {
	t.Helper()
	b, set, mem := s.first()
	r := num.NewStream("input", 5)
	x, bar := make([]float64, s.batch*s.steps*b.Width()), make([]float64, s.batch*s.steps*b.Width())
	for i := range x {
		x[i], bar[i] = r.Uniform(-1, 1), r.Uniform(-1, 1)
	}
	var arena tape.Arena[float64]
	sum := 0.
	call := func(r *tape.Run[float64]) (in, y tape.Value[float64], err error) {
		in = r.Input(x)
		y, err = b.Step(block.Call[float64]{Run: r, Pulse: s.pulse, Batch: s.batch, Tokens: s.steps}, block.Bind(r, set.View()), mem, in)
		sum = 0
		for i, v := range y.Data {
			sum += v * bar[i]
		}
		return in, y, err
	}
	var grad []float64
	err := tape.With(&arena, s.pulse, func(r *tape.Run[float64]) error {
		in, y, err := call(r)
		if err == nil {
			r.Tape.Seed(y, bar)
			r.Tape.Reverse()
			grad = slices.Clone(r.Tape.GradOf(in))
		}
		return err
	})
	loss := func() float64 {
		err = errors.Join(err, tape.Without(&arena, s.pulse, func(r *tape.Run[float64]) error {
			_, _, err := call(r)
			return err
		}))
		return sum
	}
	bad := n.check(fmt.Sprintf("%v: input of the block", s.x), loss, x, grad)
	if err != nil {
		t.Fatal(err)
	}
	return bad
}

// A tally counts compared entries.
type tally struct{ tensors, entries, skipped int }

// check compares some entries of a tensor and returns its report if one fails.
func (n *tally) check(what string, f func() float64, x, analytic []float64) []gradcheck.Report {
	index := make([]int, 0, len(x))
	for i := range x {
		index = append(index, i)
	}
	if most := entries(); len(x) > most {
		r := num.NewStream(what, 1)
		for i := range most {
			k := i + int(r.Next()>>33)%(len(x)-i)
			index[i], index[k] = index[k], index[i]
		}
		index = index[:most]
	}
	r := gradcheck.CheckAt(what, f, x, orZeros(analytic, len(x)), index)
	n.tensors++
	n.entries += r.Entries
	n.skipped += len(r.Skipped)
	if len(r.Failed) > 0 {
		return []gradcheck.Report{r}
	}
	return nil
}

func (n tally) report(t *testing.T) {
	t.Helper()
	t.Logf("%d tensors, %d entries compared, %d skipped at kinks", n.tensors, n.entries, n.skipped)
	if n.entries == 0 || !(float64(n.skipped) <= kinks*float64(n.entries)) {
		t.Errorf("%d of %d entries are skipped", n.skipped, n.entries)
	}
}
