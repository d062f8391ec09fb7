package lifecycle

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

// A run is a session that reads a stream and moves the parameters after each chunk.
type run struct {
	*session
	stream *stream.Stream
}

const chunk = 9

// start begins a run over a text of a name.
func start(t *testing.T, name string) *run {
	t.Helper()
	var b strings.Builder
	for _, id := range draw(name, 40, 10).ids {
		b.WriteByte(byte(id))
	}
	text, err := stream.FromDocuments(name, []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	part, _ := stream.Split(text)
	s, err := stream.New(part, 1)
	if err != nil {
		t.Fatal(err)
	}
	return &run{learned(t).session(t, pulse.Build), s}
}

// steps reads n chunks and returns their losses.
func (r *run) steps(n int) (losses []float32) {
	for range n {
		c := r.stream.Next(chunk)
		out := r.step(c.Inputs, c.Targets)
		r.model.update(out.grads)
		losses = append(losses, out.loss)
	}
	return losses
}

// each calls f for all that a run is made of, beside its clock and cursor.
func (r *run) each(m *block.Memory[float32], f func(name string, data []float32), g func(name string, pos []int32)) {
	v := r.model.set.View()
	for i := range v.Len() {
		if slots := r.model.moves.Slots(i); slots != nil {
			slots.Each(func(name string, data []float32) { f("update."+name+"."+v.Name(i), data) })
		}
	}
	m.Each("memory.", func(name string, _ []int, data []float32) { f(name, data) })
	m.EachPos("memory.", g)
}

// save writes the run to a file.
func (r *run) save(path string) {
	r.t.Helper()
	s := &checkpoint.Snapshot{}
	var errs []error
	add := func(name string, data []float32) {
		errs = append(errs, checkpoint.Add(s, name, tensor.Shape{len(data)}, data))
	}
	v := r.model.set.View()
	for i := range v.Len() {
		add("param."+v.Name(i), v.Data(i))
	}
	var err error
	r.ctx, err = r.ctx.Step(func(m *block.Memory[float32]) (*block.Memory[float32], error) {
		r.each(m, add, func(name string, pos []int32) {
			errs = append(errs, checkpoint.Add(s, name, tensor.Shape{1}, []int64{int64(pos[0])}))
		})
		return m, nil
	})
	steps := r.model.moves.Clocks()
	errs = append(errs, err,
		checkpoint.Add(s, "fires", tensor.Shape{len(steps)}, steps),
		checkpoint.Add(s, "clock", tensor.Shape{2}, []uint64{r.now.Step(), r.now.Position()}),
		checkpoint.Add(s, "cursor", tensor.Shape{stream.CursorWords}, r.stream.Cursors(r.now)[0].Words()),
		checkpoint.Write(path, s))
	if err := errors.Join(errs...); err != nil {
		r.t.Fatal(err)
	}
}

// load is the inverse of save for a run that has just begun. change may change the
// clock and the cursor that were saved.
func (r *run) load(path string, change func(clock []uint64, c *stream.Cursor)) error {
	s, err := checkpoint.Read(path)
	if err != nil {
		return err
	}
	var errs []error
	take := func(name string, data []float32) {
		errs = append(errs, checkpoint.Take(s, name, tensor.Shape{len(data)}, data))
	}
	r.model.writer.Restore(func(_ int, p context.Param, data []float32) { take("param."+p.Name, data) })
	r.ctx, err = r.ctx.Step(func(m *block.Memory[float32]) (*block.Memory[float32], error) {
		r.each(m, take, func(name string, pos []int32) {
			wide := make([]int64, 1)
			errs = append(errs, checkpoint.Take(s, name, tensor.Shape{1}, wide))
			pos[0] = int32(wide[0])
		})
		return m, nil
	})
	steps := slices.Clone(r.model.moves.Clocks())
	clock, words := make([]uint64, 2), make([]uint64, stream.CursorWords)
	errs = append(errs, err,
		checkpoint.Take(s, "fires", tensor.Shape{len(steps)}, steps),
		checkpoint.Take(s, "clock", tensor.Shape{2}, clock),
		checkpoint.Take(s, "cursor", tensor.Shape{len(words)}, words), s.Done(), r.model.moves.CheckClocks(steps, make([]int64, len(steps))))
	r.model.moves.SetClocks(steps, make([]int64, len(steps)))
	c, err := stream.CursorFromWords(words)
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	change(clock, &c)
	r.now = r.now.At(clock[0], clock[1])
	return r.stream.Restore([]stream.Cursor{c}, r.now)
}

// TestStreamStandsWhereTheMemoryDoes is the fifth bug: a run that is resumed with a
// stream at another position. What is saved together goes on bit for bit; every
// other pair is refused. Around it: the model without its stream.
func TestStreamStandsWhereTheMemoryDoes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.safetensors")
	r := start(t, "resumed")
	r.steps(5)
	r.save(path)
	want := r.steps(4)

	as := func([]uint64, *stream.Cursor) {}
	again := start(t, "resumed")
	if err := again.load(path, as); err != nil {
		t.Fatal(err)
	}
	if got := again.steps(4); !same(got, want) {
		t.Errorf("a resumed run has the losses %v, the unbroken one %v", got, want)
	}

	for name, c := range map[string]struct {
		change func(clock []uint64, c *stream.Cursor)
		text   string
		want   []error // one of them
	}{
		"a clock that is ahead":      {func(clock []uint64, _ *stream.Cursor) { clock[0]++ }, "resumed", []error{stream.ErrPulse}},
		"a cursor of another step":   {func(_ []uint64, c *stream.Cursor) { c.PulseID-- }, "resumed", []error{stream.ErrPulse}},
		"a cursor one chunk early":   {func(_ []uint64, c *stream.Cursor) { c.Position -= chunk }, "resumed", []error{stream.ErrPosition, stream.ErrContent}},
		"a cursor a token ahead":     {func(_ []uint64, c *stream.Cursor) { c.Position++ }, "resumed", []error{stream.ErrPosition, stream.ErrContent}},
		"another text of its length": {as, "another", []error{stream.ErrDataset}},
	} {
		err := start(t, c.text).load(path, c.change)
		var mismatch *stream.Mismatch
		isOne := slices.ContainsFunc(c.want, func(want error) bool { return errors.Is(err, want) })
		if !isOne || !errors.As(err, &mismatch) || mismatch.Saved == mismatch.Live {
			t.Errorf("%s: %v, want %v with both sides", name, err, c.want)
		}
	}

	apart := start(t, "resumed")
	if err := apart.load(path, as); err != nil {
		t.Fatal(err)
	}
	apart.stream = start(t, "resumed").stream
	if got := apart.steps(4); same(got, want) {
		t.Error("a memory whose stream stands elsewhere has no symptom: the test shows nothing")
	}
}
