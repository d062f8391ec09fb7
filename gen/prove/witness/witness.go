package witness

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/units"
)

// A Witness is a set of numbers from outside that a unit of the pages must
// reproduce: results and gradients that another implementation computed for
// given parameters. Which tensor of a file is which parameter is written down
// in a list of lines,
//
//	UNIT PROGRAM FILE PREFIX : PARAM=TENSOR … SIZE:=VALUE … > RESULT=TENSOR*WEIGHT …
//
// A parameter without a line of its own is the tensor of its name behind the
// prefix, and its gradient the tensor grad.NAME. A value is a number, @TENSOR
// for the single entry of one, or TENSOR[i] for its i-th block; behind ~ it is a
// value whose gradient is not compared (by a start off its domain, say).
// STRIP:=x. takes x. off the names of parameters first. OPTION::=value sets an
// option of the unit, OPTION::='word one that is a word. UNIT is a page, or a
// rule that no page names: A+B+C+D/Front, its knobs and its
// front, or Strategy(Rule), a strategy and its rule. What stands behind *
// weighs a result in the scalar that was differentiated; without it a result does
// not count there. That scalar is compared too, if the file has a tensor loss
// behind the prefix and no result is compared with it.
//
// The program declared is none: behind > stand all numbers that the declarations
// of a unit fix, b=3 W=uniform(-0.5,0.5), at the sizes of the line.
//
// TENSOR(2,0,1) has its columns in another order: the first is column 2 of the
// file's. A line with EACH:=1-7 stands for seven, with 1 to 7 in the place of
// {n} and 0 to 6 in that of {n-1}. TOL:=1e-9 allows more than the usual distance.
type Witness struct {
	Unit, Program, File, Prefix string

	In      map[string]string // parameter → tensor
	Sizes   map[string]string
	Options map[string]string
	Strip   string
	Out     []Result
	Tol     float64 // 0: as always
	Line    int
}

// A Result is one result that is compared.
type Result struct{ Result, Tensor, Weight string }

// Vectors finds a tensor of a vector file: its shape and its numbers.
type Vectors func(name string) (shape []int, data []float64, ok bool)

// A Mismatch is a number that a unit does not reproduce.
type Mismatch struct {
	Name      string
	Index     []int
	Got, Want float64
	Err       float64 // by the norm of the tensor
}

func (m Mismatch) String() string {
	return fmt.Sprintf("%s%s is %.17g, but the witness has %.17g", m.Name, numeric.AtIndex(m.Index), m.Got, m.Want)
}

// Hold compares a unit with a witness. It returns how many numbers were
// compared, the worst of them, and an error when they cannot be.
func (w *Witness) Hold(tree *units.Tree, vectors Vectors) (n int, worst Mismatch, err error) {
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
