package prove_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/prove/proof"
)

func benchmark(b *testing.B, opt proof.Options, kind notation.UnitKind) {
	s := specs(b)
	for b.Loop() {
		for _, u := range s.Tree.Order {
			if kind == 0 || u.Kind == kind {
				prove.Block(s.Tree, u, opt)
			}
		}
	}
}

func BenchmarkQuick(b *testing.B) { benchmark(b, proof.Options{}, 0) }
func BenchmarkRules(b *testing.B) { benchmark(b, proof.Options{}, notation.RuleUnit) }
func BenchmarkFacts(b *testing.B) { benchmark(b, proof.Options{Facts: true}, notation.RuleUnit) }
