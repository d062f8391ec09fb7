package vectors

import (
	"fmt"
	"maps"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/internal/vectors"
)

// An update is tested by steps in a row, with slots that start at zero, at several counts
// of the clock, with its attribute and without, with the settings of the page and with
// others.

// clockCounts are the counts of the clock.
var clockCounts = []int{1, 2, 3, 50, 1000}

// updateSizes are the sizes of the parameter: a number of entries, or matrices that are
// wide, tall, square, and one row.
var updateSizes = map[bool][]map[string]int{
	false: {{"n": 5}},
	true:  {{"r": 3, "c": 5}, {"r": 7, "c": 4}, {"r": 3, "c": 3}, {"r": 1, "c": 6}},
}

// update adds the trial of an update.
func (m *maker) update(t *emitgo.Trial, blk *check.Block) {
	var ds diag.List
	u, f := t.Unit, irbuild.Update(blk, &ds)
	e := &evaluator{trial: t, out: &vectors.File{}, kind: "step", pair: &evaluated{f: f}, kernel: true}
	n, all := 0, updateSizes[u.Matrix != nil]
	for variant := range 4 {
		for i, z := range all {
			if i > 1 && variant != i-1 {
				continue // every shape occurs, but not with every variant
			}
			carried := tensors{}
			for _, count := range clockCounts {
				c := e.newCase(n, u.Shaped(z))
				evaluateStep(u, ident.ASCII(blk.Unit.Params[0].Name.Text), c, carried, count, variant%2 == 1, variant >= 2)
				n++
			}
		}
	}
	m.add(t, e.out)
}

// evaluateStep evaluates one step and carries parameter and slots to the next.
func evaluateStep(u *abi.Unit, updated string, c *testCase, carried tensors, count int, flag, other bool) {
	setting := map[string]float64{}
	for i, v := range u.Consts {
		if v.HasSetting {
			setting[v.Name] = v.Setting
			if other {
				setting[v.Name] = 1 / float64(i+2)
			}
		}
	}
	for _, p := range c.pair.f.Params {
		t := interp.NewTensor(interp.Shape(p.Axes, c.sizes)...)
		x, isSetting := setting[p.Name]
		switch {
		case p.Role == ir.State && carried[p.Name] != nil:
			t = carried[p.Name]
		case p.Role == ir.State && p.Name != updated:
		case isSetting:
			t.Data[0] = x
		case p.Elem == ir.Bool && flag:
			t.Data[0] = 1
		case p.Elem == ir.Bool:
		case p.Role == ir.Constant:
			t.Data[0] = float64(count)
		default:
			c.fill(t)
			if u.Matrix == nil {
				t.Data[0] = 0 // an entry without a gradient; a form for matrices may divide by it
			}
		}
		c.in[p.Name] = t
	}
	out := interp.Run(c.pair.f, c.sizes, c.in)
	maps.Copy(carried, out)
	c.writeSizes(c.sizes)
	for _, p := range c.pair.f.Params {
		elem := p.Elem
		if p.Role == ir.Constant && elem == ir.Real && !has(setting, p.Name) {
			elem = ir.Int // the clock
		}
		c.write("in."+p.Name, c.in[p.Name], elem)
	}
	for _, r := range c.pair.f.Results {
		if !finite(out[r.Name]) {
			panic(fmt.Sprintf("vectors: BUG: %s gives a %s that is not finite", u.Name, r.Name))
		}
		c.write("out."+r.Name, out[r.Name], ir.Real)
	}
}

func has(m map[string]float64, name string) bool { _, ok := m[name]; return ok }
