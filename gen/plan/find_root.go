package plan

// A FindRoot finds the number between Lo and Hi at which a residual is zero. Body
// computes the residual Val from the scalar X and has no other effect; To receives
// the root.
//
// The method is Chandrupatla's (1997), bisection with inverse quadratic
// interpolation, with a check that the range shrinks. It changes bits, so it is
// part of the plan. It is computed in the type of the numbers, whose relative
// spacing is eps; each product and quotient is rounded.
//
//	ends            X = Lo gives a and fa, X = Hi gives b and fb; an end at which
//	                the residual is zero is the root
//	no sign change  the root is NaN where fa and fb have one sign or are NaN, or
//	                b − a is not a positive finite number
//	start           X = a + (b − a)/2 and W = b − a
//	each round      X is the root if its residual is zero; a residual that is NaN
//	                ends the search with NaN. Where f(X) has the sign of fa, c is
//	                the old a, else c is the old b and b is the old a; then a is X.
//	                w = |b − a|; least = (Tol/2 + eps·2·|x|)/w, where x is a or b,
//	                whichever has the smaller residual (b, if neither).
//	                The search ends when least ≥ ½ or after RootRounds rounds.
//	                t = ½, unless the inverse parabola is smooth: with
//	                x = (a − b)/(c − b) and y = (fa − fb)/(fc − fb), if y² < x and
//	                (1 − y)² < 1 − x, then t is
//	                (fa/(fb − fa))·(fc/(fb − fc)) + ((c − a)/(b − a))·((fa/(fc − fa))·(fb/(fc − fb)))
//	                Every RootCheck rounds t = ½ unless w ≤ W/2, and W = w.
//	                t is raised to least and then lowered to 1 − least.
//	                X = a + t·(b − a), or the middle where that is not between the
//	                ends; the search ends where the middle is not either.
//	end             the root is a + (b − a)·(fa/(fa − fb)), or a where that is not
//	                in the range
//
// A search that finds no sign change although both residuals are numbers, or that
// reaches RootRounds, has failed and its root is NaN: a target reports the Number
// of the first that failed to the caller of the kernel. NaN from NaN is no failure.
type FindRoot struct {
	To, X  *Local
	Lo, Hi Expr
	Tol    float64
	Body   []Node
	Val    Expr
	Eq     string // the equation that defines the unknown
	Number int    // among the searches of the kernel, from 1
}

// RootRounds bounds the rounds after the two ends, and every RootCheck rounds the
// range must have halved.
const (
	RootRounds = 256
	RootCheck  = 4
)

func (*FindRoot) node() {}

// Roots lists the searches of a kernel by number.
func (k *Kernel) Roots() []*FindRoot {
	var out []*FindRoot
	Walk(k.Body, func(n Node) {
		if r, ok := n.(*FindRoot); ok {
			out = append(out, r)
		}
	})
	return out
}
