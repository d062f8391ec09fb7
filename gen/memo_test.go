package gen

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nl-hecate/hecate/gen/tree"
)

const memoPage = "# A page\n\n```text\nCONTRACT\n  Purpose: To be remembered\n```\n"

// TestMemo holds the memo to the very bytes of the pages, and shows that a
// damaged one is as good as none.
func TestMemo(t *testing.T) {
	root := t.TempDir()
	page := filepath.Join(root, "page.md")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(page, memoPage)
	c := Config{Root: root, Specs: []string{root}, Memo: filepath.Join(root, "memo")}
	has := func() bool { _, ok := remember(c).files(); return ok }
	if has() {
		t.Fatal("a memo before anything was kept")
	}
	remember(c).keep(tree.Files{"generated/a.go": []byte("package a\n")})
	files, ok := remember(c).files()
	if !ok || string(files["generated/a.go"]) != "package a\n" {
		t.Fatalf("what was kept came back as %q", files)
	}
	write(page, memoPage+"\n")
	if has() {
		t.Error("a page of one more byte has the old memo")
	}
	write(page, memoPage)
	if !has() {
		t.Error("the page is as it was, and its memo is gone")
	}
	path := remember(c).path
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)-2] ^= 1
	write(path, string(text))
	if has() {
		t.Error("a damaged memo is believed")
	}
	if c.Memo = ""; has() || remember(c) != (memo{}) {
		t.Error("a memo without a folder")
	}
}
