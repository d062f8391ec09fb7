package witness

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/prove/sample"
	"github.com/nl-hecate/hecate/gen/units"
)

// declared compares the declarations of a unit with a witness.
func (w *Witness) declared(tree *units.Tree) (n int, worst Mismatch, err error) {
	u := tree.Units[w.Unit]
	if u == nil {
		return 0, worst, fmt.Errorf("there is no unit %s", w.Unit)
	}
	now := sample.Declarations(u, func(axis string) float64 {
		var x float64
		fmt.Sscan(w.Sizes[axis], &x)
		return x
	})
	for _, r := range w.Out {
		n++
		got, ok := now[r.Result]
		switch {
		case !ok:
			return n, worst, fmt.Errorf("%s declares no %s, or no number for it", w.Unit, r.Result)
		case got != r.Tensor:
			return n, worst, fmt.Errorf("%s of %s is %s, but the witness has %s", r.Result, w.Unit, got, r.Tensor)
		}
		delete(now, r.Result)
	}
	for name, text := range now {
		return n, worst, fmt.Errorf("%s of %s is %s, and the witness has nothing for it", name, w.Unit, text)
	}
	return n, worst, nil
}
