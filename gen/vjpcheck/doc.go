// Package vjpcheck finds out whether the tables of adjoints on a page are right.
//
// Pages that this project did not write print their adjoints in pseudo-code:
//
//	MATMUL:  out = A @ B  (A: m×k, B: k×n, out: m×n)
//	  d_A = d_out @ B^T
//
// Each entry is translated: the forward becomes an operation of our own
// notation, is built, and is differentiated by the compiler; each printed line
// becomes an operation of its own. Both are evaluated at several sizes and
// points and compared. A verdict is therefore earned by computation:
//
//   - agrees: at every point the printed line gives the derivative,
//   - disagrees: it does not, with the smallest counterexample found, at which
//     finite differences of the forward confirm the derivative,
//   - not formal enough: the entry leaves open what it means, and what is
//     missing is named.
//
// The pseudo-language has the signs @ * / + - ^T ^2 ⊗ ||x||, sums and means
// (sum_ij, mean_t), indices, 1_{condition}, and ranges a..b. What `softmax`
// means it does not know: a function is one that the page itself defines by a
// chain of equalities, one that the pages of the tape operations define, or a
// scalar primitive of the notation.
//
// The steps, one file each: parse a line (lex, parse), divide an entry into
// statements (entry), find its shapes (shape, typing), write it as notation
// (emit), evaluate and compare (program, sample, compare), print (print).
package vjpcheck
