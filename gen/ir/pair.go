package ir

// A Pair is a forward program and its backward program. The backward has as
// parameters what it needs of the forward's parameters and results, under their
// names, the saved tensors, and the adjoint of each real result; its results are
// the adjoints of the parameters that have a gradient.
type Pair struct {
	Fwd, Bwd *Func
	Saved    []string // results of the forward that are kept for the backward
	Missing  []string // parameters that no result depends on
}
