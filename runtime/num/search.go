package num

import "math"

// searchRounds bounds the iterations of a search, and every searchCheck iterations
// the bracket must be half as long.
const (
	searchRounds = 256
	searchCheck  = 4
)

// A Search finds a root of a function between two numbers by Chandrupatla's method
// (Adv. Eng. Softw. 28, 1997). Its caller evaluates the function:
//
//	s := num.NewSearch(lo, hi, tol)
//	for s.More() {
//		s.Take(f(s.At()))
//	}
//	root := s.Root()
//
// It keeps a bracket: a range at whose ends the function has different signs. An
// iteration bisects the bracket or, where the last three iterates are on a smooth
// branch, takes the zero of the inverse quadratic interpolation through them, but no
// nearer to an end than the tolerance. If four iterations have not halved the bracket
// the next one bisects. The search ends when the bracket is as short as the tolerance
// or the spacing of the floats; the root is the zero of the secant through its ends.
// It uses only sums, products, quotients and comparisons in F, so the same function
// has the same root, bit for bit, everywhere.
type Search[F Float] struct {
	a, b, c      F // the last iterate, the other end of the bracket, and the iterate before
	fa, fb, fc   F
	x, tol, eps  F
	mark         F // length of the bracket some iterations ago
	rounds       int
	done, failed bool
}

// NewSearch starts a search for a root in [lo, hi], to within tol.
func NewSearch[F Float](lo, hi, tol F) Search[F] {
	s := Search[F]{a: lo, b: hi, x: lo, tol: tol, eps: 0x1p-52}
	if 1+s.eps == 1 {
		s.eps = 0x1p-23
	}
	return s
}

// More reports whether the function is to be evaluated once more.
func (s *Search[F]) More() bool { return !s.done }

// At is the next argument.
func (s *Search[F]) At() F { return s.x }

// Root is the root; NaN where the function has one sign at both ends or is NaN.
func (s *Search[F]) Root() F { return s.x }

// Failed reports that there is no root although no value of the function was NaN.
func (s *Search[F]) Failed() bool { return s.failed }

// Take receives the function's value at At and chooses the next iterate.
func (s *Search[F]) Take(f F) {
	s.rounds++
	switch {
	case f == 0:
		s.done = true
		return
	case s.rounds == 1:
		s.fa, s.x = f, s.b
		return
	case s.rounds == 2:
		s.begin(f)
		return
	case f != f:
		s.end(f)
		return
	case (f < 0) == (s.fa < 0):
		s.c, s.fc = s.a, s.fa
	default:
		s.c, s.fc = s.b, s.fb
		s.b, s.fb = s.a, s.fa
	}
	s.a, s.fa = s.x, f
	s.next()
}

// begin receives the function's value at the upper end.
func (s *Search[F]) begin(f F) {
	s.fb, s.mark = f, s.b-s.a
	if !(s.mark > 0 && s.mark-s.mark == 0) || !((s.fa < 0) != (f < 0)) || s.fa != s.fa || f != f {
		s.failed = s.fa == s.fa && f == f
		s.end(F(math.NaN()))
		return
	}
	s.try(0.5, 0)
}

func (s *Search[F]) end(x F) { s.x, s.done = x, true }

// next chooses the next iterate.
func (s *Search[F]) next() {
	w := Abs(s.b - s.a)
	best := s.b
	if Abs(s.fa) < Abs(s.fb) {
		best = s.a
	}
	least := F((F(s.tol/2) + F(s.eps*F(2*Abs(best)))) / w)
	switch {
	case !(least < 0.5):
		s.line()
		return
	case s.rounds-2 >= searchRounds:
		s.failed = true
		s.end(F(math.NaN()))
		return
	}
	t := F(0.5)
	if s.smooth() {
		t = s.inverse()
	}
	if (s.rounds-2)%searchCheck == 0 {
		if !(w <= F(s.mark/2)) {
			t = 0.5
		}
		s.mark = w
	}
	s.try(t, least)
}

// smooth is Chandrupatla's criterion: inverse quadratic interpolation is safe.
func (s *Search[F]) smooth() bool {
	x, y := F((s.a-s.b)/(s.c-s.b)), F((s.fa-s.fb)/(s.fc-s.fb))
	return F(y*y) < x && F((1-y)*(1-y)) < 1-x
}

// inverse is the zero of the inverse quadratic interpolation, as a fraction of the way
// from a to b.
func (s *Search[F]) inverse() F {
	first := F(F(s.fa/(s.fb-s.fa)) * F(s.fc/(s.fb-s.fc)))
	second := F(F(s.fa/(s.fc-s.fa)) * F(s.fb/(s.fc-s.fb)))
	return first + F(F((s.c-s.a)/(s.b-s.a))*second)
}

// try moves a fraction of the way from a to b, kept off both ends.
func (s *Search[F]) try(part, least F) {
	if !(part > least) {
		part = least
	}
	if part > 1-least {
		part = 1 - least
	}
	lo, hi := min(s.a, s.b), max(s.a, s.b)
	s.x = s.a + F(part*(s.b-s.a))
	if !(lo < s.x && s.x < hi) {
		s.x = lo + F((hi-lo)/2)
	}
	if !(lo < s.x && s.x < hi) {
		s.line()
	}
}

// line ends the search at the zero of the secant through the ends.
func (s *Search[F]) line() {
	x := s.a + F((s.b-s.a)*F(s.fa/(s.fa-s.fb)))
	if !(min(s.a, s.b) <= x && x <= max(s.a, s.b)) {
		x = s.a
	}
	s.end(x)
}
