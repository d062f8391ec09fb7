package prove_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove"
)

func benchmark(b *testing.B, opt prove.Options, kind notation.UnitKind) {
	s := specs(b)
	for b.Loop() {
		for _, u := range s.Tree.Order {
			if kind == 0 || u.Kind == kind {
				prove.Block(s.Tree, u, opt)
			}
		}
	}
}

func BenchmarkQuick(b *testing.B) { benchmark(b, prove.Options{}, 0) }
func BenchmarkRules(b *testing.B) { benchmark(b, prove.Options{}, notation.RuleUnit) }
func BenchmarkFacts(b *testing.B) { benchmark(b, prove.Options{Facts: true}, notation.RuleUnit) }
