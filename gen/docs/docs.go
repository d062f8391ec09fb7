// Package docs sets the reference of a tree of pages: one entry for each unit,
// and the tables of what may be combined, as markdown files and as one HTML
// file that asks for nothing from outside.
//
// Collect compiles and proves the pages and makes an entry of each unit. The layouts are
// in package templates. The notation of a page is set in HTML by notation.go.
package docs

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"
	text "text/template"

	"github.com/nl-hecate/hecate/gen/audit"
	"github.com/nl-hecate/hecate/templates"
)

// A Site is the whole reference.
type Site struct {
	Entries []*Entry
	Pairs   []*Pairs // which knobs may be combined: a table for every two slots
	Reasons []string // the sentences that the tables refer to by number
	Ways    []Link   // the strategies, the columns of Forms
	Forms   []Form   // how the rules may be computed
	Tokens  int      // of the chunks at which approximations are compared there
	Counts  string   // of combinations
	Papers  []*audit.Paper
}

// An Entry is one unit of a page.
type Entry struct {
	Name, ID string
	Kind     string // rule, bias, …
	Page     string // path of its page under the root
	Title    string // of the page
	Header   []Field
	Prose    string // markdown, where the page is about this unit alone
	Source   string // the unit as the page has it
	Cited    []Cited

	Equations []Equation
	Backward  string // as derive prints it
	NoForm    string // why there is no backward here
	Costs     []Line
	Verdicts  []Verdict
	Markers   []Verdict
	Partners  []Partner
	Relations []Relation
	Memory    []Memory
	Options   []Option
	Sizes     []Size
	Params    []Param
	States    []State
	Kernels   []Kernel
	Folder    string // of the emitted package
	Cuts      []string
}

// The rows of an entry. Text in the notation of a page is named Math.
type (
	Field    struct{ Name, Text string }
	Equation struct{ ID, Math, Cite string }
	Line     struct{ What, Math string }
	Verdict  struct{ What, Verdict, Detail string }
	Option   struct{ Math, Default, Of string }
	Size     struct{ Name, Default string }
	Param    struct{ Math, Shape, Start, Notes string }
	State    struct{ Math, Shape, Start string }
	Memory   struct{ Kernel, Saved, Checkpoints, Workspace string }
	Kernel   struct{ Name, Does, Go, CUDA string }
	// Cited is a line that cites an equation of a paper.
	Cited struct {
		Paper, Number, Anchor string // key, 13-14, the place on the page of the papers
		Math                  string // the line
		Unit                  Link   // that has it, where it is another one
		Verdict, Says         string
		page                  string // and line of the citation
		line                  int
	}
	Relation struct {
		What  string // used by, is the same as, is made of
		Links []Link
	}
	Link struct{ Name, ID string }
)

// A Partner is one value of another slot.
type Partner struct {
	Slot string
	Link
	Legal  string // yes, no, or "with …"
	Reason string
}

// Pairs is a table of two slots.
type Pairs struct {
	Title string
	Cols  []Link
	Rows  []PairRow
}

// A PairRow is a row of such a table.
type PairRow struct {
	Link
	Cells []string
}

// A Form lists the ways to compute a rule: the properties of its recurrence that were
// proved, and the result of each strategy.
type Form struct {
	Link
	Scalar, Affine, Rows string
	Ways                 []string
}

// Unlink makes plain names of the links that lead to no entry.
func (s *Site) Unlink() {
	known := map[string]bool{}
	for _, e := range s.Entries {
		known[e.ID] = true
	}
	plain := func(l *Link) {
		if !known[l.ID] {
			l.ID = ""
		}
	}
	each := func(links []Link) {
		for i := range links {
			plain(&links[i])
		}
	}
	each(s.Ways)
	for i := range s.Forms {
		plain(&s.Forms[i].Link)
	}
	for _, p := range s.Pairs {
		each(p.Cols)
		for i := range p.Rows {
			plain(&p.Rows[i].Link)
		}
	}
	for _, e := range s.Entries {
		for i := range e.Relations {
			each(e.Relations[i].Links)
		}
		for i := range e.Partners {
			plain(&e.Partners[i].Link)
		}
	}
}

// groups are the headings of the contents, by kind.
var groups = []struct {
	kind, title string
}{{"rule", "Rules"}, {"structure", "Structures"}, {"bias", "Biases"}, {"retention", "Retentions"}, {"algorithm", "Algorithms"},
	{"law", "Law"}, {"front", "Fronts"}, {"strategy", "Strategies"}, {"schedule", "Schedules"}, {"update", "Updates"},
	{"compose", "Compositions"}, {"model", "Models"}, {"op", "Operations"}, {"function", "Functions"}}

// A Group is the entries of one kind.
type Group struct {
	Title   string
	Entries []*Entry
}

// Groups are the entries by kind, each in the order of the names.
func (s *Site) Groups() []Group {
	var out []Group
	for _, g := range groups {
		var in []*Entry
		for _, e := range s.Entries {
			if e.Kind == g.kind {
				in = append(in, e)
			}
		}
		slices.SortStableFunc(in, func(a, b *Entry) int { return strings.Compare(a.Name, b.Name) })
		if len(in) > 0 {
			out = append(out, Group{g.title, in})
		}
	}
	return out
}

// Short is the purpose of an entry in a line.
func (e *Entry) Short() string {
	for _, f := range e.Header {
		if f.Name == "Purpose" {
			return f.Text
		}
	}
	return e.Title
}

// Links are the relations of a kind as a list of names.
func (r Relation) String() string {
	var out []string
	for _, l := range r.Links {
		out = append(out, l.Name)
	}
	return strings.Join(out, ", ")
}

// Markdown sets the reference as files: one for each entry, one of contents and
// one of the tables, by their names.
func (s *Site) Markdown() (map[string][]byte, error) {
	t, err := text.New("docs").Funcs(text.FuncMap{"cell": cell, "code": code, "link": link, "lines": oneLine, "number": number, "anchor": anchor, "entry": entryOf}).Parse(templates.Reference)
	if err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	out := map[string][]byte{}
	set := func(file, name string, data any) {
		var b bytes.Buffer
		if e := t.ExecuteTemplate(&b, name, data); e != nil && err == nil {
			err = fmt.Errorf("docs: %s: %w", file, e)
		}
		out[file] = tidy(b.Bytes())
	}
	set("README.md", "contents", s)
	set("legality.md", "legality", s)
	set("papers.md", "papers", s)
	for _, e := range s.Entries {
		set(e.ID+".md", "entry", e)
	}
	return out, err
}

// HTML sets the reference as one file.
func (s *Site) HTML() ([]byte, error) {
	t, err := template.New("site").Funcs(template.FuncMap{"math": mathHTML, "notation": blockHTML, "prose": proseHTML, "lines": oneLine, "number": number, "text": textHTML, "class": class, "anchor": anchor, "entry": entryOf}).Parse(templates.Site)
	if err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, "site", s); err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	return b.Bytes(), nil
}

// cell is text in a table of markdown.
func cell(s string) string { return strings.ReplaceAll(oneLine(s), "|", "\\|") }

// code is the notation of a page in a table of markdown.
func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + cell(s) + "`"
}

func link(l Link) string {
	if l.ID == "" {
		return l.Name
	}
	return "[" + l.Name + "](" + l.ID + ".md)"
}

// class is how a cell of a table of pairs looks.
func class(cell string) string {
	word, _, _ := strings.Cut(cell, " ")
	return "v-" + word
}

// entryOf is the name of the entry of a unit's id.
func entryOf(id string) string {
	if name, ok := strings.CutSuffix(id, "()"); ok {
		return name + "_function"
	}
	return id
}

// anchor is where the page of the papers has an equation.
func anchor(key, number string) string { return strings.ReplaceAll(key, "@", "-") + "-" + number }

// number is the number of a reason, as tables refer to it.
func number(i int) string { return fmt.Sprintf("[%d]", i+1) }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// tidy leaves one blank line where a layout left several.
func tidy(b []byte) []byte {
	for bytes.Contains(b, []byte("\n\n\n")) {
		b = bytes.ReplaceAll(b, []byte("\n\n\n"), []byte("\n\n"))
	}
	return append(bytes.TrimSpace(b), '\n')
}

// Write writes the reference under a folder: markdown/ then holds exactly the
// entries, and index.html the s. It returns the number of files.
func (s *Site) Write(dir string) (int, error) {
	pages, err := s.Markdown()
	if err != nil {
		return 0, err
	}
	page, err := s.HTML()
	if err != nil {
		return 0, err
	}
	under := filepath.Join(dir, "markdown")
	if err := os.MkdirAll(under, 0o755); err != nil {
		return 0, err
	}
	old, err := filepath.Glob(filepath.Join(under, "*.md"))
	if err != nil {
		return 0, err
	}
	for _, p := range old { // of a page that is gone
		if pages[filepath.Base(p)] == nil {
			err = errors.Join(err, os.Remove(p))
		}
	}
	for name, text := range pages {
		err = errors.Join(err, os.WriteFile(filepath.Join(under, name), text, 0o644))
	}
	return len(pages) + 1, errors.Join(err, os.WriteFile(filepath.Join(dir, "index.html"), page, 0o644))
}
