package engine

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/cuda"
)

// TestEveryModel builds every model of the registry and one of four levels, saves
// it, and reads what was saved: in one piece, in pieces on the grid of its calls,
// and as a session that is saved and goes on. All are one reading.
func TestEveryModel(t *testing.T) {
	ctx := context.Background()
	for _, model := range append(registry.Models(), "ByteLM(MAG(CMS([DeltaRule, TitansLMM, Hebbian, Lattice]), SlidingWindow))") {
		c := small(t, "model.formula="+model)
		c.Model.Sizes = map[string]int{"d": 8} // all models have that
		b, err := modules.NewBuilder(c, "")
		if err != nil {
			t.Fatal(model, err)
		}
		steps(t, b, 3)
		dir := t.TempDir()
		path, saved := filepath.Join(dir, "x.safetensors"), filepath.Join(dir, "session")
		if err := b.Save(path); err != nil {
			t.Fatal(model, err)
		}
		built, err := modules.Tokens(c)
		if err != nil {
			t.Fatal(err)
		}
		text := built[:7*9+1] // whole calls, and the token after them
		read := func(cuts ...int) (nats float64, hash string) {
			r, err := modules.NewReader(path, "", "")
			if err != nil {
				t.Fatal(model, err)
			}
			from := 0
			for _, to := range append(cuts, len(text)) {
				more, _, err := r.Read(ctx, text[from:to], 7)
				if err != nil {
					t.Fatal(model, err)
				}
				nats, from = nats+more, to
			}
			if hash, err = r.Hash(); err != nil {
				t.Fatal(err)
			}
			return nats, hash
		}
		nats, hash := read()
		if n, h := read(8, 29); n != nats || h != hash {
			t.Errorf("%s: in pieces %v and %s, in one %v and %s", model, n, h, nats, hash)
		}
		session := func() Session {
			s, err := modules.NewSession(path, Text{Paths: []string{smallText}}, 0, saved)
			if err != nil {
				t.Fatal(model, err)
			}
			return s
		}
		sum := 0.0
		for s, i := session(), 0; i < 9; i++ {
			if i == 4 {
				if err := s.Save(saved); err != nil {
					t.Fatal(err)
				}
				s = session()
			}
			more, predicted, ok, err := s.Step()
			if err != nil || !ok || predicted != 7 {
				t.Fatal(model, predicted, ok, err)
			}
			sum += more
		}
		if sum != nats {
			t.Errorf("%s: a session has %v nats, a reader %v", model, sum, nats)
		}
	}
}

// TestGrid reads tokens one by one, as when text is drawn: the schedule goes on
// once in so many tokens as a call of the build has, and levels that are updated seldom
// are due at the same tokens as in whole calls.
func TestGrid(t *testing.T) {
	c := small(t, "model.formula=ByteCMS", "levels.periods=1,2,4")
	b, err := modules.NewBuilder(c, "")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if err := b.Save(path); err != nil {
		t.Fatal(err)
	}
	open, err := modules.NewReader(path, "", "")
	if err != nil {
		t.Fatal(err)
	}
	r := open.(*reader)
	for n, id := range tokensOf("thirty letters, one after another") {
		if _, _, err := r.Read(context.Background(), []int32{id}, 7); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		read := n + 1
		p := r.pulse
		if p.Step() != uint64(read/7) || p.Position() != uint64(read) || p.Active(1) != (read/7%2 == 0) || p.Active(2) != (read/7%4 == 0) {
			t.Errorf("after %d tokens: step %d, position %d, mask %b", read, p.Step(), p.Position(), p.Mask())
		}
	}
}

// TestNeeds: what every rule takes on a device is known without one.
func TestNeeds(t *testing.T) {
	if _, err := modules.Needs(small(t)); errors.As(err, new(*cuda.UnavailableError)) {
		t.Skip(err)
	}
	for _, rule := range registry.All().Rules() {
		n, err := modules.Needs(small(t, "model.formula=ByteLM(MAG("+rule+", SlidingWindow))", "model.sizes.d=8", "stream.chunk=37"))
		if err != nil {
			t.Errorf("%s: %v", rule, err)
			continue
		}
		has := func(kernel string) bool {
			return slices.ContainsFunc(n.Kernels, func(v cuda.Variant) bool { return v.Kernel == kernel })
		}
		for _, kernel := range []string{"adam_w/step", "mag/out_backward", "sliding_window/out", "runtime/vector"} {
			if !has(kernel) {
				t.Errorf("%s: %s is not among %v", rule, kernel, n.Kernels)
			}
		}
		if n.Bytes < 1<<20 {
			t.Errorf("%s takes %d bytes", rule, n.Bytes)
		}
	}
}
