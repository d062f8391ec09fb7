package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nl-hecate/hecate/runtime/checkpoint"
)

// A report is a page of markdown.
type report struct{ b strings.Builder }

// say adds a paragraph.
func (r *report) say(format string, args ...any) { fmt.Fprintf(&r.b, format+"\n\n", args...) }

// table adds a table; the cells of a row are printed as they are.
func (r *report) table(head []string, rows [][]string) {
	line := func(cells []string) { r.b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(head)
	r.b.WriteString(strings.Repeat("|---", len(head)) + "|\n")
	for _, row := range rows {
		line(row)
	}
	r.b.WriteString("\n")
}

// write writes the page, whole or not at all.
func (r *report) write(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return checkpoint.WriteFile(path, []byte(strings.TrimRight(r.b.String(), "\n")+"\n"))
}

// progress says on standard error what is under way.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// figure prints bits to a hundredth, which is about what seeds differ by.
func figure(m mark) string {
	if m.bad != nil {
		return "–"
	}
	return fmt.Sprintf("%.3f", m.heldOut)
}
