package mutation

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
)

// A Program is one of the tensor programs of a block.
type Program struct {
	Name string
	Func *ir.Func
}

// Programs builds all tensor programs of a block. A page that means nothing by itself has none.
func Programs(blk *check.Block, ds *diag.List) []Program {
	var out []Program
	add := func(name string, f *ir.Func) {
		if f != nil {
			out = append(out, Program{name, f})
		}
	}
	switch blk.Unit.Kind {
	case notation.OpUnit:
		add("out", irbuild.Op(blk, ds))
	case notation.RuleUnit:
		add("chunk", irbuild.Rule(blk, ds))
		if !ds.HasErrors() {
			add("frozen", irbuild.Frozen(blk, ds))
			add("start", irbuild.Start(blk, ds))
		}
	case notation.ComposeUnit, notation.ModelUnit:
		if proof.Complete(blk) {
			add("whole", irbuild.Whole(blk, ds))
			break
		}
		if p := irbuild.Compose(blk, ds); p != nil {
			for i, s := range p.Stages {
				add(fmt.Sprintf("stage%d", i+1), s.Func)
			}
		}
	case notation.UpdateUnit:
		add("step", irbuild.Update(blk, ds))
	case notation.FuncUnit:
		add("out", irbuild.Function(blk, ds))
	}
	return out
}
