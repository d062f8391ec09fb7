package gen_test

import "testing"

// TestStrangerPage is the whole journey of a page that the compiler has never
// seen: it is put beside the project's pages in a copy of the tree, compiled,
// and its generated package is vetted and tested there.
func TestStrangerPage(t *testing.T) {
	root := newProject(t, "stranger/bounded_echo.md")
	vetAndTest(t, root, rules("boundedecho")...)
}
