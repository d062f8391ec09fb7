package prove

import (
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
)

func (p *prover) kinks()                          {}
func (p *prover) opInvariants()                   {}
func (p *prover) opCost(f *ir.Func)               {}
func (p *prover) ruleInvariants()                 {}
func (p *prover) markers(f *ir.Func)              {}
func (p *prover) requirements()                   {}
func (p *prover) ruleCost(f *ir.Func)             {}
func (p *prover) specials()                       {}
func (p *prover) starts(f *ir.Func)               {}
func (p *prover) causal(f *ir.Func)               {}
func (p *prover) causalStages(q *irbuild.Program) {}
func (p *prover) errata()                         {}
func (p *prover) overridden()                     {}
