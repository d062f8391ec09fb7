// Package zero is Track Zero: the generated code against references that were
// written outside this project, in Python with JAX (see validation/oracle). It has tests
// only.
//
// Zero-A is attention alone, Zero-B is a delta rule as the gate of attention.
// Both are built here step for step as the oracle did: the gradients of every
// parameter, the context that moves from chunk to chunk, and the loss over
// 1,000 steps of AdamW. The rules, attention, operations and the update are
// also held one by one to the oracle's vectors, at 1e-9 in float64.
package zero
