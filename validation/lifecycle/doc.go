// Package lifecycle holds generated models to the three lifetimes of their numbers.
// It has tests only.
//
// Five bugs have been made before, elsewhere, and each cost weeks: inner state that
// leaked into outer parameters, state that several sessions shared, a context that
// was not reset between documents, parameters changed in place, and a stream that
// was not where the model's memory was. Each has a test that shows what the
// protection gives, and then goes round the protection on purpose and shows the
// symptom, so that it is known to be seen. The probes beside them ask for what a
// reader of the contract would look for in the code.
package lifecycle
