package num

import "math"

// searchRounds bounds the rounds of a search, and every searchCheck rounds the
// range must be half as long.
const (
	searchRounds = 256
	searchCheck  = 4
)

// A Search looks for a root of a function between two numbers. Its caller
// evaluates the function:
//
//	s := num.NewSearch(lo, hi, tol)
//	for s.More() {
//		s.Take(f(s.At()))
//	}
//	root := s.Root()
//
// It keeps a range at whose ends the function has different signs. A round
// halves the range, or, where the last three trials lie on a smooth branch,
// goes to where the inverse parabola through them meets zero, but no nearer to
// an end than the tolerance, so that a trial beside the root closes the range
// (the method of Chandrupatla). Where four rounds have not halved the range the
// next one does. The search ends where the range is as short as the tolerance,
// or as the numbers there allow; the root is where the line through its ends
// meets zero. Only sums, products, quotients and comparisons in the type of the
// numbers occur, so the same function gives the same bits everywhere.
type Search[F Float] struct {
	a, b, c      F // the last trial, the other end of the range, and the trial before
	fa, fb, fc   F
	x, tol, eps  F
	mark         F // the range some rounds ago
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

// At is where.
func (s *Search[F]) At() F { return s.x }

// Root is what was found; NaN where the function has one sign at both ends, or
// is no number.
func (s *Search[F]) Root() F { return s.x }

// Failed reports that there was nothing to find although the function gave
// numbers.
func (s *Search[F]) Failed() bool { return s.failed }

// Take receives the function at the present trial and chooses the next one.
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

// begin receives the function at the upper end.
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

// next chooses the next trial.
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

// smooth reports whether the inverse parabola through the three trials runs
// between them.
func (s *Search[F]) smooth() bool {
	x, y := F((s.a-s.b)/(s.c-s.b)), F((s.fa-s.fb)/(s.fc-s.fb))
	return F(y*y) < x && F((1-y)*(1-y)) < 1-x
}

// inverse is where that parabola meets zero, as a part of the way from a to b.
func (s *Search[F]) inverse() F {
	first := F(F(s.fa/(s.fb-s.fa)) * F(s.fc/(s.fb-s.fc)))
	second := F(F(s.fa/(s.fc-s.fa)) * F(s.fb/(s.fc-s.fb)))
	return first + F(F((s.c-s.a)/(s.b-s.a))*second)
}

// try goes a part of the way from a to b, kept off both ends.
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

// line ends the search where the line through the ends meets zero.
func (s *Search[F]) line() {
	x := s.a + F((s.b-s.a)*F(s.fa/(s.fa-s.fb)))
	if !(min(s.a, s.b) <= x && x <= max(s.a, s.b)) {
		x = s.a
	}
	s.end(x)
}
