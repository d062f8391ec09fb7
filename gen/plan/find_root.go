package plan

// A FindRoot is a search for the number between Lo and Hi at which a residual is
// zero. Body computes the residual Val from the scalar X, and has no effect
// beside that; To receives what is found.
//
// The search is the method of Chandrupatla with a check. It changes bits, so it
// is part of the plan. All of it is done in the type of the numbers, whose
// relative spacing is eps; each product and quotient is rounded.
//
//	trials 1 and 2  X is Lo, which gives a and fa, then Hi, which gives b and fb;
//	                an end at which the residual is zero is the root
//	no sign change  where fa and fb have one sign or are no numbers, or b − a is
//	                not a positive finite number, the root is NaN
//	to begin with   X = a + (b − a)/2, and W is b − a
//	each trial      one that is zero is the root, one that is no number ends the
//	                search with NaN. Where f(X) has the sign of fa, c is the old
//	                a, else c is the old b and b is the old a; then a is X
//	                w = |b − a|; least = (Tol/2 + eps·2·|x|)/w, x being a or b,
//	                whichever has the smaller residual (b, if neither)
//	                least ≥ ½ ends the search, so do RootRounds rounds
//	                t = ½, unless the inverse parabola is smooth: with
//	                x = (a − b)/(c − b) and y = (fa − fb)/(fc − fb), if y² < x and
//	                (1 − y)² < 1 − x, then t is
//	                (fa/(fb − fa))·(fc/(fb − fc)) + ((c − a)/(b − a))·((fa/(fc − fa))·(fb/(fc − fb)))
//	                every RootCheck rounds t = ½ unless w ≤ W/2, and W is w
//	                t is raised to least and then lowered to 1 − least
//	                X = a + t·(b − a), or the middle unless it lies between the
//	                ends; where the middle does not either, the search ends
//	at its end      the root is a + (b − a)·(fa/(fa − fb)), or a unless that lies
//	                in the range
//
// A search that finds no sign change although both residuals are numbers, or
// that ends for the number of its rounds, has failed, and gives NaN: a target
// reports the Number of the first that did to whoever called the kernel. What
// is no number already gives NaN and no report, as everywhere.
type FindRoot struct {
	To, X  *Local
	Lo, Hi Expr
	Tol    float64
	Body   []Node
	Val    Expr
	Eq     string // the equation that defines the unknown
	Number int    // among the searches of the kernel, from 1
}

// RootRounds bounds the rounds of a search behind the two ends, and every
// RootCheck rounds the range must have become half as long.
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
