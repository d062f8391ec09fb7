package ir

// An Op is a primitive; the zero value is invalid.
type Op int

const (
	_ Op = iota

	// Structure and sums.
	Prod      // out += c · Π args
	Lin       // out = Σ c_k·arg_k + c_last
	Const     // out = c
	SizeOf    // out = the size Poly as a number
	Iota      // out = the loop Over[0] as a number
	Stop      // out = arg, no gradient
	Override  // out = arg 0; the gradient goes to arg 1
	Stack     // out = the one argument whose subscript on axis Over[0] is inside it
	Reshape   // out = arg in the same row-major order under other axes
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

// An OpInfo is a row of the one table of primitives.
type OpInfo struct {
	Name        string
	Args        int  // −1: any number
	Elementwise bool // entry by entry: every loop is in the output, no accumulation
	Out         Elem // 0: as the arguments
	Smooth      bool // has a derivative everywhere in its domain
}

var table = [...]OpInfo{
	Prod:      {"prod", -1, false, Real, true},
	Lin:       {"lin", -1, true, Real, true},
	Const:     {"const", 0, true, Real, true},
	SizeOf:    {"size", 0, true, Real, true},
	Iota:      {"iota", 0, true, Real, true},
	Stop:      {"stop", 1, true, Real, true},
	Override:  {"override", 2, true, Real, true},
	Stack:     {"stack", -1, true, Real, true},
	Reshape:   {"reshape", 1, false, Real, true},
	Max:       {"max", 1, false, Real, false},
	Softmax:   {"softmax", 1, false, Real, true},
	LogSumExp: {"logsumexp", 1, false, Real, true},
	Exp:       {"exp", 1, true, Real, true},
	Log:       {"log", 1, true, Real, true},
	Log1p:     {"log1p", 1, true, Real, true},
	Expm1:     {"expm1", 1, true, Real, true},
	Sqrt:      {"sqrt", 1, true, Real, true},
	Tanh:      {"tanh", 1, true, Real, true},
	Sigmoid:   {"sigmoid", 1, true, Real, true},
	Softplus:  {"softplus", 1, true, Real, true},
	Sin:       {"sin", 1, true, Real, true},
	Cos:       {"cos", 1, true, Real, true},
	Erf:       {"erf", 1, true, Real, true},
	Abs:       {"abs", 1, true, Real, false},
	Sign:      {"sign", 1, true, Real, false},
	Floor:     {"floor", 1, true, Real, false},
	Div:       {"div", 2, true, Real, true},
	Pow:       {"pow", 2, true, Real, true},
	Mod:       {"mod", 2, true, Real, false},
	Max2:      {"max2", 2, true, Real, false},
	Min2:      {"min2", 2, true, Real, false},
	Less:      {"lt", 2, true, Bool, false},
	LessEq:    {"le", 2, true, Bool, false},
	Equal:     {"eq", 2, true, Bool, false},
	And:       {"and", 2, true, Bool, false},
	Or:        {"or", 2, true, Bool, false},
	Not:       {"not", 1, true, Bool, false},
	Select:    {"select", 3, true, Real, true},
	ToReal:    {"real", 1, true, Real, false},
	ScanOp:    {"scan", 0, false, 0, true},
	SolveOp:   {"solve", -1, false, Real, true},
	TriSolve:  {"trisolve", 2, false, Real, true},
}

// Info returns the row of an op.
func (o Op) Info() OpInfo {
	if o <= 0 || int(o) >= len(table) {
		return OpInfo{Name: "invalid"}
	}
	return table[o]
}

func (o Op) String() string { return o.Info().Name }

// OpByName returns the op that prints as name.
func OpByName(name string) (Op, bool) {
	for o := range table {
		if table[o].Name == name && o > 0 {
			return Op(o), true
		}
	}
	return 0, false
}

// Ops returns all primitives in order.
func Ops() []Op {
	var out []Op
	for o := 1; o < len(table); o++ {
		out = append(out, Op(o))
	}
	return out
}
