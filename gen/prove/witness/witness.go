// Package witness compares units with numbers from other implementations: results and gradients
// that were computed elsewhere for given parameters, and read from vector files.
package witness

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/sample"
	"github.com/nl-hecate/hecate/gen/units"
)

// A Witness is a line of the list of witnesses:
//
//	UNIT PROGRAM FILE PREFIX : PARAM=TENSOR … SIZE:=VALUE … > RESULT=TENSOR*WEIGHT …
//
// UNIT is a page, or a rule without a page: A+B+C+D/Front with its knobs and its front, or
// Strategy(Rule). A parameter without an assignment is the tensor of its name after the
// prefix, and its gradient the tensor grad.NAME. A value is a number, @TENSOR for the only
// entry of a tensor, or TENSOR[i] for its i-th block; the gradient of a value after ~ is not
// compared, as for a first value outside of its domain. STRIP:=x. removes x. from the names of
// parameters first. OPTION::=value sets an option of the unit, OPTION::='word an option that is
// a word. A weight after * weighs a result in the scalar that was differentiated; a result
// without one does not enter it. The scalar is compared too, where the file has a tensor loss
// after the prefix and no result is compared with it.
//
// The program declared compares the declarations of a unit, b=3 W=uniform(-0.5,0.5), at the
// sizes of the line, and all of them must be listed after >.
//
// TENSOR(2,0,1) permutes the columns: the first is column 2 of the file's. A line with EACH:=1-7
// stands for seven lines, with 1 to 7 for {n} and 0 to 6 for {n-1}. TOL:=1e-9 sets a tolerance.
type Witness struct {
	Unit, Program, File, Prefix string

	In      map[string]string // parameter → tensor
	Sizes   map[string]string
	Options map[string]string
	Strip   string
	Out     []Result
	Tol     float64 // 0 for the usual tolerance
	Line    int
}

// A Result is one result that is compared.
type Result struct{ Result, Tensor, Weight string }

// Vectors returns the shape and the data of a tensor of a vector file.
type Vectors func(name string) (shape []int, data []float64, ok bool)

// A Mismatch is the largest deviation of a unit from a witness.
type Mismatch struct {
	Name      string
	Index     []int
	Got, Want float64
	Err       float64 // relative to the norm of the tensor
}

func (m Mismatch) String() string {
	return fmt.Sprintf("%s%s is %.17g, but the witness has %.17g", m.Name, numeric.AtIndex(m.Index), m.Got, m.Want)
}

// Compare compares a unit with a witness. It returns the number of numbers that were compared and
// the largest deviation, or an error where they cannot be compared.
func (w *Witness) Compare(tree *units.Tree, vectors Vectors) (n int, worst Mismatch, err error) {
	if w.Program == "declared" {
		return w.declared(tree)
	}
	f, err := w.program(tree, vectors)
	if err != nil {
		return 0, worst, err
	}
	h := &comparison{w: w, f: f, vectors: vectors}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	if err := h.readParams(); err != nil {
		return 0, worst, err
	}
	err = h.compare()
	return h.n, h.worst, err
}

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
