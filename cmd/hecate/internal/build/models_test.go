package build

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
)

var notGiven = regexp.MustCompile(`size (\S+) is not given`)

// named is a model of the registry, of small sizes.
func named(t *testing.T, name string) block.Model[float32] {
	t.Helper()
	give := map[string]int{"d": 4, "V": stream.Vocab, "H": 2, "n_p": 1, "w": 5, "d_k": 4, "d_h": 3, "m": 5}
	vals := map[string]int{}
	for range 50 {
		m, err := registry.NewModel[float32](name, block.NewSizes(vals))
		if err == nil {
			return m
		}
		missing := notGiven.FindAllStringSubmatch(err.Error(), -1)
		if len(missing) == 0 {
			t.Fatalf("%s: %v", name, err)
		}
		for _, x := range missing {
			size := x[1][strings.LastIndexByte(x[1], '.')+1:]
			if give[size] == 0 {
				give[size] = 4
			}
			vals[x[1]] = give[size]
		}
	}
	t.Fatalf("no sizes for %s", name)
	return nil
}

// TestResumeOfModels cuts builds of every model of the registry, on a schedule of
// four levels, between any two steps of two rounds of it: whichever levels are
// frozen then, the rest of the build is that of the unbroken one, to the bit.
func TestResumeOfModels(t *testing.T) {
	const steps, tokens = 10, 7
	for _, name := range registry.Models() {
		m := named(t, name)
		open := func() *module.Session[float32] { return leveled(t, m) }
		file := func(s *module.Session[float32]) []byte {
			snap, err := s.SnapshotBuild(nil)
			if err != nil {
				t.Fatal(name, err)
			}
			var b bytes.Buffer
			if _, err := snap.WriteTo(&b); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		}
		whole := open()
		var saved [][]byte
		for range steps {
			saved = append(saved, file(whole))
			if _, err := whole.Step(tokens); err != nil {
				t.Fatal(name, err)
			}
		}
		end := file(whole)
		for cut := range steps {
			snap, err := checkpoint.Decode(saved[cut])
			if err != nil {
				t.Fatal(err)
			}
			rest := open()
			if err := rest.ResumeBuild(snap, nil, nil); err != nil {
				t.Fatalf("%s before step %d: %v", name, cut, err)
			}
			for range steps - cut {
				if _, err := rest.Step(tokens); err != nil {
					t.Fatal(name, err)
				}
			}
			if !bytes.Equal(file(rest), end) {
				t.Errorf("%s resumed before step %d comes to another end", name, cut)
			}
		}
	}
}

// leveled is a build on a schedule of four levels.
func leveled(t *testing.T, m block.Model[float32]) *module.Session[float32] {
	t.Helper()
	text, err := stream.FromDocuments("prose", []byte(prose[:101]), []byte(prose[101:400]))
	if err != nil {
		t.Fatal(err)
	}
	part, _ := text.Split()
	s, err := stream.New(part, 2)
	if err != nil {
		t.Fatal(err)
	}
	u, err := registry.NewUpdate[float32]("AdamW")
	if err != nil {
		t.Fatal(err)
	}
	b, err := module.New(module.Config[float32]{Model: m, Update: u, Clip: 1, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	x, err := module.NewSession(b, s, pulse.Schedule{Periods: []int{1, 2, 4, 8}}, pulse.Build)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
