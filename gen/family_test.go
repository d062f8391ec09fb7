package gen_test

import "testing"

// TestFamilyPages takes pages with families all the way: compiled, proved,
// emitted, vetted, and tested there by what was generated with them.
func TestFamilyPages(t *testing.T) {
	root := newProject(t, "family/self_modifying.md", "family/two_roads.md", "family/short_windows.md")
	vetAndTest(t, root, append(rules("selfmodifying", "tworates"), "./generated/compositions/tworoads")...)
}
