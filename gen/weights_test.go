package gen_test

import "testing"

// TestWeightsPages compiles formulas of structures with several weights and
// several fits in a copy of the tree, and tests there what was generated:
// gradients, tape against direct calls, chunks, lanes, first states.
func TestWeightsPages(t *testing.T) {
	root := newProject(t, "weights/deep_memories.md")
	vetAndTest(t, root, append(rules("deepdelta", "deeprounds", "deeppower", "deepsimplex", "twopasses"), "./generated/safety")...)
}
