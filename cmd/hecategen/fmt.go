package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/markdown"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/notation/parser"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

func defineFmt(c *command) runFunc {
	f := &formatter{}
	c.flags.BoolVar(&f.list, "l", false, "list the pages whose formatting differs")
	c.flags.BoolVar(&f.diff, "d", false, "print what would change")
	c.flags.BoolVar(&f.write, "w", false, "write the pages")
	ascii := c.flags.Bool("ascii", false, "spell everything in ASCII; without it, in Unicode")
	return func(args []string, out, err io.Writer) (int, error) {
		if *ascii {
			f.style = notation.ASCII
		}
		f.out, f.err = out, err
		w, e := openWorkspace(args, "")
		if e != nil {
			return exitFailed, e
		}
		s, ds := w.conf.Load()
		return f.pages(s, ds, w.chosen), nil
	}
}

type formatter struct {
	list, diff, write bool
	style             notation.Style
	out, err          io.Writer
	known             map[string]bool
}

// pages formats the pages of the command line; the others are read for the names that
// are functions.
func (f *formatter) pages(s *gen.Source, ds diag.List, chosen func(page string) bool) int {
	f.known = map[string]bool{}
	for _, p := range s.Pages {
		for n := range parser.Known(blocks(p, nil)) {
			f.known[n] = true
		}
	}
	mine := map[string]diag.List{}
	status := exitOK
	for _, d := range ds.Sorted() {
		path := ""
		if d.Span.File != nil {
			path = d.Span.File.Path
		}
		if path == "" || stops(d) {
			l := mine[path]
			l.Add(d)
			mine[path] = l
		}
	}
	if world := mine[""]; world.Len() > 0 {
		status = report(world, f.err)
	}
	for _, p := range s.Pages {
		if !chosen(p.File.Path) {
			continue
		}
		wrong := mine[p.File.Path]
		if wrong.Len() > 0 {
			status = report(wrong, f.err)
			continue
		}
		if e := f.page(p); e != nil {
			fmt.Fprintln(f.err, "hecategen:", e)
			status = exitFailed
		}
	}
	return status
}

// stops reports whether a diagnostic forbids formatting its page: the page or
// its blocks could not be read. A missing header does not.
func stops(d diag.Diagnostic) bool {
	const firstOfCheck = diag.DuplicateName
	return d.Severity == diag.Error && (d.Code >= diag.BadCharacter && d.Code < firstOfCheck ||
		d.Code == diag.InvalidUTF8 || d.Code == diag.UnclosedFence)
}

func blocks(p *spec.Page, known map[string]bool) []parser.Input {
	var out []parser.Input
	for _, b := range p.Blocks {
		if b.IsHecate {
			out = append(out, parser.Input{Text: b.Text, Offset: b.FileOffset, File: p.File, Example: b.IsExample, Known: known})
		}
	}
	return out
}

// page formats one page, and prints, compares or writes it.
func (f *formatter) page(p *spec.Page) error {
	text, err := f.text(p)
	if err != nil {
		return err
	}
	old, path := p.File.Text, p.File.Path
	if !f.list && !f.diff && !f.write {
		_, err := io.WriteString(f.out, text)
		return err
	}
	if text == old {
		return nil
	}
	if f.list {
		fmt.Fprintln(f.out, path)
	}
	if f.diff {
		f.out.Write(diff.Diff(path+".orig", []byte(old), path, []byte(text)))
	}
	if f.write {
		return replace(filepath.FromSlash(path), text)
	}
	return nil
}

// text is the page with its blocks formatted. The result is read again: a
// block that does not come back as it was written leaves the page as it is.
func (f *formatter) text(p *spec.Page) (string, error) {
	var b strings.Builder
	var want []string
	from := 0
	for _, blk := range p.Blocks {
		if !blk.IsHecate || len(blk.Lines) == 0 {
			want = append(want, blk.Text)
			continue
		}
		in := parser.Input{Text: blk.Text, Offset: blk.FileOffset, File: p.File, Known: f.known}
		formatted, ds := parser.FormatInput(in, f.style)
		if ds.HasErrors() {
			return "", &ds
		}
		want = append(want, formatted)
		start, end := region(p.File.Text, blk)
		b.WriteString(p.File.Text[from:start])
		b.WriteString(indented(p.File.Text, blk, formatted))
		from = end
	}
	b.WriteString(p.File.Text[from:])
	if !reads(b.String(), want) {
		return "", fmt.Errorf("%s: formatting would change the meaning of the page; it is not changed (please report this)", p.File.Path)
	}
	return b.String(), nil
}

// region is the bytes of a block's lines, line endings included.
func region(text string, b *spec.Block) (start, end int) {
	start = strings.LastIndexByte(text[:b.Lines[0].Offset], '\n') + 1
	last := b.Lines[len(b.Lines)-1].Offset
	if n := strings.IndexByte(text[last:], '\n'); n >= 0 {
		return start, last + n + 1
	}
	return start, len(text)
}

// indented puts the text before the opening fence before every line of a block: marks
// of quotes stay, those of lists become spaces.
func indented(text string, b *spec.Block, formatted string) string {
	at := strings.LastIndexByte(text[:b.Span.Start], '\n') + 1
	lead := strings.Map(func(r rune) rune {
		if r == '>' || r == '\t' {
			return r
		}
		return ' '
	}, strings.TrimPrefix(text[at:b.Span.Start], "\uFEFF"))
	ending := "\n"
	if n := strings.IndexByte(text[b.Span.Start:], '\n'); n > 0 && text[b.Span.Start+n-1] == '\r' {
		ending = "\r\n"
	}
	var out strings.Builder
	for line := range strings.Lines(formatted) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			out.WriteString(strings.TrimRight(lead, " \t") + ending)
			continue
		}
		out.WriteString(lead + line + ending)
	}
	return out.String()
}

// reads reports whether a page has these blocks.
func reads(text string, want []string) bool {
	p, ds := markdown.Parse(source.NewFile("", text))
	if len(p.Blocks) != len(want) {
		return false
	}
	for i, b := range p.Blocks {
		if b.Text != want[i] {
			return false
		}
	}
	return !ds.Has(diag.UnclosedFence)
}

// replace writes a file beside the old one and puts it in its place.
func replace(path, text string) (err error) {
	if real, e := filepath.EvalSymlinks(path); e == nil {
		path = real
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".hecategen-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(tmp.Name())
		}
	}()
	_, err = tmp.WriteString(text)
	err = errors.Join(err, tmp.Chmod(info.Mode().Perm()), tmp.Sync(), tmp.Close())
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
