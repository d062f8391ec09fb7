// Package vjpcheck checks the tables of adjoints on a page.
//
// Pages that are not of this project print their adjoints in pseudo-code:
//
//	MATMUL:  out = A @ B  (A: m×k, B: k×n, out: m×n)
//	  d_A = d_out @ B^T
//
// Each entry is translated: the forward becomes an operation of the notation, is
// built, and is differentiated by the compiler; each printed line becomes an
// operation of its own. Both are evaluated at several sizes and points and
// compared. A verdict is
//
//   - agrees: at every point the printed line is the derivative,
//   - disagrees: it is not, with the smallest counterexample found, at which
//     finite differences of the forward confirm the derivative,
//   - not formal enough: the entry is ambiguous, and the detail says what is missing.
//
// The pseudo-language (package pseudo) has no functions: a function is one that the
// page itself defines by a chain of equalities, one that the pages of the tape
// operations define, or a scalar primitive of the notation.
//
// The passes, one file each: parse a line (package pseudo), divide an entry into
// statements (entry), find its shapes (shapes, scope), write it as notation
// (translate, calls, operation), evaluate and compare (program, sample, compare), judge (verdict) and print
// (print).
package vjpcheck
