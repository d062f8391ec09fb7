// Package protocol is the validation protocol on whole models: every memory rule in
// every composition, as one level, two or four, under every mask of active levels.
// It has tests only; questions without a right answer are in validation/experiments.
//
// A model is a formula. The registry makes it of generated code, and the compiler
// reads the same formula as one program, its parts inlined, which the interpreter
// evaluates in float64 with the adjoint of autodiff. The two share the pages and
// nothing behind them. Three classes of tests hold a gradient:
//
//   - Class 1, isolation: each part on the model's tape gives bit for bit what it
//     gives alone, on a tape of its own, for the adjoint that it received.
//   - Class 2, analytic: the tape's gradient of every parameter, of the embedding
//     and of a block's input, against differences in float64.
//   - Class 3, integration: outputs, memory and gradients against the interpreter.
//
// Beside them are tests that need no second implementation: what reaches a
// frozen level and what it leaves, one forward however tokens are cut into calls,
// sequences together or alone, one core or two, no look into the future, and a gradient
// for every parameter from the pages' own first values. The sweep builds small models
// of every rule, and they must learn.
//
// What runs by default touches every pair of a rule and a composition, and every
// schedule under every mask. HECATE_PROTOCOL=full runs the whole product, for about
// an hour.
package protocol
