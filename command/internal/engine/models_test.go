package engine_test

import (
	"bytes"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
)

// TestResumeOfModels cuts builds of every model of the registry, on a schedule of
// four levels, between any two steps of two rounds of it: whichever levels are
// frozen then, the rest of the build is that of the unbroken one, to the bit.
func TestResumeOfModels(t *testing.T) {
	const steps, tokens = 10, 7
	for _, name := range append(registry.Models(), fourLevels...) {
		m := made(t, name)
		open := func() *module.Session[float32] { return endless(t, m, pulse.Build, 0) }
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

// fourLevels are models of four levels with rules of four kinds.
var fourLevels = []string{
	"ByteLM(MAG(CMS([DeltaRule, TitansLMM, Hebbian, Lattice]), SlidingWindow))",
	"ByteLM(MAG(CMSGated([DeltaRule, TitansLMM, Hebbian, Lattice]), SlidingWindow))",
}
