package gen_test

import "testing"

// TestStrangerPage is the whole journey of pages that the compiler has never
// seen: they are put beside the library's in a module of their own, compiled,
// and their generated packages are vetted and tested there.
func TestStrangerPage(t *testing.T) {
	root := newProject(t, "stranger/bounded_echo.md", "stranger/matched.md")
	vetAndTest(t, root, rules("boundedecho", "renamedchunk", "transitionchunk", "sumschunk", "combachunk")...)
}
