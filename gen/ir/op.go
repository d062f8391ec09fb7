package ir

import (
	"iter"
	"math"
)

// An Op is a primitive; the zero value is invalid.
type Op int

const (
	_ Op = iota

	// Structure and sums.
	Prod      // out += c · Π args
	Lin       // out = Σ c_k·arg_k + c_last
	Const     // out = c
	SizeOf    // out = the size Poly as a number
	Iota      // out = the loop Over[0] as a number, plus its argument, an integer, if it has one
	Stop      // out = arg, no gradient
	Override  // out = arg 0; the gradient is that of arg 1
	Stack     // out = the one argument whose subscript on axis Over[0] is inside it
	Reshape   // out = arg in the same row-major order under other axes
	Narrow    // out = arg as an operand of a product: in the type that a program stores these in, float32 or bfloat16
	Max       // out = max of arg over the loops Over
	Softmax   // out = exp(arg) / Σ exp(arg) over Over
	LogSumExp // out = log Σ exp(arg) over Over

	// Scalar functions of one argument.
	Exp
	Log
	Log1p
	Expm1
	Sqrt
	Tanh
	Sigmoid
	Softplus
	Sin
	Cos
	Erf
	Abs
	Sign
	Floor

	// Scalar functions of two or three arguments.
	Div
	Pow
	Mod
	Max2
	Min2
	Less   // bool
	LessEq // bool
	Equal  // bool
	And    // bool
	Or     // bool
	Not    // bool
	Select // arg 0 ? arg 1 : arg 2
	ToReal // int or bool → real

	// With bodies.
	ScanOp
	SolveOp // out = the root of a residual

	TriSolve // out + Σ_{i<t} arg 0·out = arg 1 over the loops Over: see Instr.Triangle
)

// A Cost says what it takes to compute an entry of an output again; the zero
// value is invalid.
type Cost int

const (
	_        Cost = iota
	Free          // nothing: a constant, an index, a copy
	Simple        // one instruction: computed again rather than kept
	Compound      // more, and not counted by name
	Function      // a division, a root or a transcendental function, which a page's cost counts by name
)

// An OpInfo is a row of the one table of primitives. What other packages know
// of a scalar function (its name on a page, its value, what it costs, how it
// folds) they derive from here; only what differs from target to target, and
// the derivative, have tables of their own.
type OpInfo struct {
	Name        string
	Args        int    // −1: any number
	Elementwise bool   // every loop is in the output, no accumulation
	View        bool   // the entries of its argument as they lie in memory; it has no loops
	Out         Elem   // 0: as the arguments
	Smooth      bool   // has a derivative everywhere in its domain
	Cost        Cost   // of an entry
	Page        string // the function that pages call, or ""
	Monotone    int    // of one argument, wherever it is defined: 1 increasing, −1 decreasing, 0 neither
	Parity      int    // of one argument: f(−x) = Parity·f(x), or 0
	Vector      bool   // every target with vectors has code for it
	Fused       string // the function of package kern that is its value in the fused arithmetic, or ""

	f1 func(x float64) float64
	f2 func(x, y float64) float64
}

var table = [...]OpInfo{
	Prod:      {Name: "prod", Args: -1, Out: Real, Smooth: true, Cost: Simple},
	Lin:       {Name: "lin", Args: -1, Elementwise: true, Out: Real, Smooth: true, Cost: Simple},
	Const:     {Name: "const", Elementwise: true, Out: Real, Smooth: true, Cost: Free},
	SizeOf:    {Name: "size", Elementwise: true, Out: Real, Smooth: true, Cost: Free},
	Iota:      {Name: "iota", Args: -1, Elementwise: true, Out: Real, Smooth: true, Cost: Free},
	Stop:      {Name: "stop", Args: 1, Elementwise: true, Out: Real, Smooth: true, Cost: Free, Page: "stop", f1: identity},
	Override:  {Name: "override", Args: 2, Elementwise: true, Out: Real, Smooth: true, Cost: Simple, f2: first},
	Stack:     {Name: "stack", Args: -1, Elementwise: true, Out: Real, Smooth: true, Cost: Compound},
	Reshape:   {Name: "reshape", Args: 1, View: true, Out: Real, Smooth: true, Cost: Compound},
	Narrow:    {Name: "narrow", Args: 1, View: true, Out: Real, Smooth: true, Cost: Compound},
	Max:       {Name: "max", Args: 1, Out: Real, Cost: Compound},
	Softmax:   {Name: "softmax", Args: 1, Out: Real, Smooth: true, Cost: Compound},
	LogSumExp: {Name: "logsumexp", Args: 1, Out: Real, Smooth: true, Cost: Compound},
	Exp:       {Name: "exp", Args: 1, Elementwise: true, Out: Real, Smooth: true, Cost: Function, Page: "exp", Monotone: 1, Vector: true, Fused: "Exp", f1: math.Exp},
	Log:       {Name: "log", Args: 1, Elementwise: true, Out: Real, Smooth: true, Cost: Function, Page: "log", Monotone: 1, Vector: true, Fused: "Log", f1: math.Log},
	Log1p:     {Name: "log1p", Args: 1, Elementwise: true, Out: Real, Smooth: true, Cost: Function, Page: "log1p", Monotone: 1, Vector: true, Fused: "Log1p", f1: math.Log1p},
	Expm1:     {Name: "expm1", Args: 1, Elementwise: true, Out: Real, Smooth: true, Cost: Function, Page: "expm1", Monotone: 1, f1: math.Expm1},
	Sqrt:      {Name: "sqrt", Args: 1, Elementwise: true, Out: Real, Smooth: true, Cost: Function, Page: "sqrt", Monotone: 1, Vector: true, f1: math.Sqrt},
	Tanh:      {Name: "tanh", Args: 1, Elementwise: true, Out: Real, Smooth: true, Cost: Function, Page: "tanh", Monotone: 1, Parity: -1, Vector: true, Fused: "Tanh", f1: math.Tanh},
	Sigmoid:   {Name: "sigmoid", Args: 1, Elementwise: true, Out: Real, Smooth: true, Cost: Function, Page: "sigmoid", Monotone: 1, Vector: true, Fused: "Sigmoid", f1: sigmoid},
	Softplus:  {Name: "softplus", Args: 1, Elementwise: true, Out: Real, Smooth: true, Cost: Function, Page: "softplus", Monotone: 1, Vector: true, Fused: "Softplus", f1: softplus},
	Sin:       {Name: "sin", Args: 1, Elementwise: true, Out: Real, Smooth: true, Cost: Function, Page: "sin", Parity: -1, f1: math.Sin},
	Cos:       {Name: "cos", Args: 1, Elementwise: true, Out: Real, Smooth: true, Cost: Function, Page: "cos", Parity: 1, f1: math.Cos},
	Erf:       {Name: "erf", Args: 1, Elementwise: true, Out: Real, Smooth: true, Cost: Function, Page: "erf", Monotone: 1, Parity: -1, Vector: true, Fused: "Erf", f1: math.Erf},
	Abs:       {Name: "abs", Args: 1, Elementwise: true, Out: Real, Cost: Simple, Page: "abs", Parity: 1, Vector: true, f1: math.Abs},
	Sign:      {Name: "sign", Args: 1, Elementwise: true, Out: Real, Cost: Simple, Page: "sign", Parity: -1, Vector: true, Fused: "Sign", f1: sign},
	Floor:     {Name: "floor", Args: 1, Elementwise: true, Out: Real, Cost: Compound, Page: "floor", Monotone: 1, Vector: true, f1: math.Floor},
	Div:       {Name: "div", Args: 2, Elementwise: true, Out: Real, Smooth: true, Cost: Function, Vector: true, f2: div},
	Pow:       {Name: "pow", Args: 2, Elementwise: true, Out: Real, Smooth: true, Cost: Function, f2: math.Pow},
	Mod:       {Name: "mod", Args: 2, Elementwise: true, Out: Real, Cost: Compound, f2: mod},
	Max2:      {Name: "max2", Args: 2, Elementwise: true, Out: Real, Cost: Simple, Page: "max", Vector: true, Fused: "Larger", f2: larger},
	Min2:      {Name: "min2", Args: 2, Elementwise: true, Out: Real, Cost: Simple, Page: "min", Vector: true, Fused: "Smaller", f2: smaller},
	Less:      {Name: "lt", Args: 2, Elementwise: true, Out: Bool, Cost: Simple, Vector: true, f2: less},
	LessEq:    {Name: "le", Args: 2, Elementwise: true, Out: Bool, Cost: Simple, Vector: true, f2: lessEq},
	Equal:     {Name: "eq", Args: 2, Elementwise: true, Out: Bool, Cost: Simple, Vector: true, f2: equal},
	And:       {Name: "and", Args: 2, Elementwise: true, Out: Bool, Cost: Simple, Vector: true, f2: and},
	Or:        {Name: "or", Args: 2, Elementwise: true, Out: Bool, Cost: Simple, Vector: true, f2: or},
	Not:       {Name: "not", Args: 1, Elementwise: true, Out: Bool, Cost: Simple, Vector: true, f1: not},
	Select:    {Name: "select", Args: 3, Elementwise: true, Out: Real, Smooth: true, Cost: Simple, Vector: true},
	ToReal:    {Name: "real", Args: 1, Elementwise: true, Out: Real, Cost: Simple, Vector: true, f1: identity},
	ScanOp:    {Name: "scan", Smooth: true, Cost: Compound},
	SolveOp:   {Name: "solve", Args: -1, Out: Real, Smooth: true, Cost: Compound},
	TriSolve:  {Name: "trisolve", Args: 2, Out: Real, Smooth: true, Cost: Compound},
}

// Info returns the row of an op.
func (o Op) Info() OpInfo {
	if o <= 0 || int(o) >= len(table) {
		return OpInfo{Name: "invalid"}
	}
	return table[o]
}

func (o Op) String() string { return o.Info().Name }

// opByName returns the op that prints as name.
func opByName(name string) (Op, bool) {
	for o := range table {
		if table[o].Name == name && o > 0 {
			return Op(o), true
		}
	}
	return 0, false
}

// PageFunction returns the primitive of a function that pages call by name.
func PageFunction(name string) (Op, bool) {
	for o := range table {
		if name != "" && table[o].Page == name {
			return Op(o), true
		}
	}
	return 0, false
}

// PageFunctions are the names of the primitives that pages call.
func PageFunctions() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, info := range table {
			if info.Page != "" && !yield(info.Page) {
				return
			}
		}
	}
}

// Ops returns all primitives in order.
func Ops() []Op {
	var out []Op
	for o := 1; o < len(table); o++ {
		out = append(out, Op(o))
	}
	return out
}
