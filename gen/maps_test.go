package gen_test

import "testing"

// TestFeatureMaps takes a rule over each feature map all the way: compiled,
// proved, emitted, vetted, and tested there by what was generated with it.
func TestFeatureMaps(t *testing.T) {
	root := newProject(t, "maps/maps.md")
	vetAndTest(t, root, rules("linearmap", "fouriermap", "exponentialmap", "polynomialmap", "layeredmap", "decaying", "polynomiallayers")...)
}
