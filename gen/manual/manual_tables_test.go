package manual_test

import (
	"cmp"
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/notation/parser"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/prove/marker"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
	"github.com/nl-hecate/hecate/gen/units"
)

// A table of the manual, by its first head cell.
type table struct {
	line int // of the first row under the head
	rows [][]string
}

// tables reads all tables of a page; `|` inside a cell is written `\|`.
func tables(text string) map[string]*table {
	out := map[string]*table{}
	var cur *table
	for n, l := range strings.Split(text, "\n") {
		if !strings.HasPrefix(l, "|") {
			cur = nil
			continue
		}
		cells := tableCells(l)
		switch {
		case cur == nil:
			cur = &table{line: n + 3}
			out[cells[0]] = cur
		case strings.Trim(cells[0], "-:") == "" && cells[0] != "":
		default:
			cur.rows = append(cur.rows, cells)
		}
	}
	return out
}

func tableCells(l string) []string {
	l = strings.ReplaceAll(strings.TrimSpace(l), `\|`, "\x00")
	var out []string
	for _, c := range strings.Split(strings.Trim(l, "|"), "|") {
		out = append(out, strings.ReplaceAll(strings.TrimSpace(c), "\x00", "|"))
	}
	return out
}

func manualTable(t *testing.T, head string) *table {
	t.Helper()
	tab := tables(manual(t).page.File.Text)[head]
	if tab == nil {
		t.Fatalf("the manual has no table with the head %q", head)
	}
	return tab
}

// code is the text of a cell that is one code span.
func code(cell string) string { return strings.Trim(cell, "` ") }

// words are the code spans of a cell.
func words(cell string) []string {
	var out []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
		out = append(out, m[1])
	}
	return out
}

// column is one column of a table, as code.
func (tab *table) column(k int) []string {
	var out []string
	for _, r := range tab.rows {
		out = append(out, code(r[k]))
	}
	return out
}

// sameTable compares the manual's rows with what the code says, and rewrites
// them when asked to.
func sameTable(t *testing.T, head string, want [][]string) {
	t.Helper()
	tab := manualTable(t, head)
	if slices.EqualFunc(tab.rows, want, func(a, b []string) bool { return slices.Equal(a, b) }) {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Errorf("%s:%d: the table of every %s is not what the code says; run UPDATE=1 go test ./gen/manual", manualPath, tab.line, head)
		for i := range max(len(want), len(tab.rows)) {
			if i >= len(want) || i >= len(tab.rows) || !slices.Equal(want[i], tab.rows[i]) {
				t.Logf("first difference, row %d", i+1)
				break
			}
		}
		return
	}
	data, err := os.ReadFile(manualPath)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "| "+head+" |") }) + 2
	end := at
	for end < len(lines) && strings.HasPrefix(lines[end], "|") {
		end++
	}
	var rows []string
	for _, r := range want {
		rows = append(rows, "| "+strings.ReplaceAll(strings.Join(r, "\x00"), "|", `\|`)+" |")
	}
	lines = slices.Concat(lines[:at], []string{strings.ReplaceAll(strings.Join(rows, "\n"), "\x00", " | ")}, lines[end:])
	if err := os.WriteFile(manualPath, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Errorf("%s: rewrote the table of every %s", manualPath, head)
}

// TestManualCodes holds the list of diagnostics to the codes that exist.
func TestManualCodes(t *testing.T) {
	var want [][]string
	for _, c := range diag.Codes() {
		e, _ := diag.Explain(c)
		first, _, _ := strings.Cut(e.Summary, ". ")
		want = append(want, []string{"`" + c.String() + "`", strings.TrimSuffix(first, ".")})
	}
	sameTable(t, "code", want)
}

// TestManualPrimitives holds the list of primitives to the table of the IR.
func TestManualPrimitives(t *testing.T) {
	var want [][]string
	for _, o := range ir.Ops() {
		i := o.Info()
		args, out, smooth := fmt.Sprint(i.Args), fmt.Sprint(i.Out), "yes"
		if i.Args < 0 {
			args = "any"
		}
		if i.Out == 0 {
			out = "as its body"
		}
		if !i.Smooth {
			smooth = "no"
		}
		want = append(want, []string{"`" + i.Name + "`", args, out, smooth})
	}
	sameTable(t, "primitive", want)
}

// TestManualPrecedence parses both spellings of each row: as one would write
// it, and with every parenthesis.
func TestManualPrecedence(t *testing.T) {
	tab := manualTable(t, "level")
	for _, r := range tab.rows {
		short, full := words(r[2]), words(r[3])
		if len(short) == 0 || len(short) != len(full) {
			t.Errorf("%s:%d: %q and %q do not go together", manualPath, tab.line, r[2], r[3])
			continue
		}
		for i := range short {
			a, b := parsed(t, short[i]), parsed(t, full[i])
			if !notation.Equal(a, b) {
				t.Errorf("%s: %s is not %s but %s", manualPath, short[i], full[i], notation.Print(a, notation.Unicode))
			}
		}
	}
}

func parsed(t *testing.T, text string) notation.Expr {
	t.Helper()
	e, ds := parser.ParseExpr(nil, text, "f", "ℓ")
	if ds.Len() > 0 {
		t.Errorf("%s: %s", text, diag.Render(ds.Sorted()))
	}
	return e
}

// TestManualSpellings turns each line into ASCII and back.
func TestManualSpellings(t *testing.T) {
	const head = "rule R\n"
	for _, r := range manualTable(t, "in Unicode").rows {
		uni, ascii := code(r[0]), code(r[1])
		for _, c := range []struct {
			in, want string
			style    notation.Style
		}{{uni, ascii, notation.ASCII}, {ascii, uni, notation.Unicode}, {uni, uni, notation.Unicode}, {ascii, ascii, notation.ASCII}} {
			got, ds := parser.FormatInput(parser.Input{Text: head + c.in, Known: manual(t).known}, c.style)
			if ds.Len() > 0 || got != head+c.want {
				t.Errorf("%s is spelled %q, the manual says %s\n%s", c.in, strings.TrimPrefix(got, head), c.want, diag.Render(ds.Sorted()))
			}
		}
	}
}

// TestManualFunctions holds the list of functions to the words that the parser
// knows, and each row to what the compiler makes of it.
func TestManualFunctions(t *testing.T) {
	m := manual(t)
	var names []string
	for _, r := range manualTable(t, "function").rows {
		name, where, try := code(r[0]), r[2], code(r[3])
		names = append(names, name)
		if where == "elsewhere" {
			continue
		}
		text := "op Probe(x ∈ ℝ^{n}, y ∈ ℝ^{n}) → out = " + try + "\n"
		f, ds := parser.Parse(m.page.File, []parser.Input{{Text: text, File: source.NewFile(try, text), Known: m.known}})
		if ds.Len() == 0 {
			tree, cd := units.Collect(append(m.around(f), f))
			if ds.Append(cd); !ds.HasErrors() {
				exampleUnit(tree, f.Units[0], &ds)
			}
		}
		if ok := ds.Len() == 0; ok != (where == "yes") {
			t.Errorf("%s: the manual says %q of %s\n%s", manualPath, where, try, diag.Render(ds.Sorted()))
		}
	}
	var want []string
	for n := range notation.Builtins {
		want = append(want, n)
	}
	sameSet(t, "functions", names, want)
}

// TestManualUnits holds the list of units to the parser's.
func TestManualUnits(t *testing.T) {
	sameSet(t, "kinds of units", manualTable(t, "unit").column(0), notation.UnitWords())
}

// TestManualWords holds the list of reserved words to the scanner's.
func TestManualWords(t *testing.T) {
	for _, r := range manualTable(t, "words that").rows {
		for _, w := range words(r[1]) {
			if !notation.Reserved(w) {
				t.Errorf("%s: %s is not reserved", manualPath, w)
			}
		}
	}
}

// TestManualMarkers holds the list of markers to the one that proofs use: a
// marker of the list is known by each of its names, and no other is.
func TestManualMarkers(t *testing.T) {
	m := manual(t)
	var names []string
	for _, r := range manualTable(t, "marker").rows {
		name := code(r[0])
		name, _, _ = strings.Cut(name, "(")
		names = append(names, name)
		for _, alias := range append(words(r[2]), name) {
			if !knownMarker(m, alias) {
				t.Errorf("%s: the marker %s is not known", manualPath, alias)
			}
		}
	}
	sameSet(t, "markers", names, marker.Names())
	if knownMarker(m, "Fictitious") {
		t.Error("a marker is known that does not exist")
	}
}

func knownMarker(m *manualPage, name string) bool {
	text := "rule Probe\ndims d\ninput x ∈ ℝ^{d}\nstate M ∈ ℝ^{d} = 0\nM_t = M_{t−1} + x_t\ny_t = M_t\nprovides " + name + "(M)\n"
	file := source.NewFile(name, text)
	f, _ := parser.Parse(file, []parser.Input{{Text: text, File: file}})
	tree, _ := units.Collect([]*notation.File{f})
	_, ds := prove.Block(tree, f.Units[0], proof.Options{})
	return !slices.ContainsFunc(ds.Sorted(), func(d diag.Diagnostic) bool { return d.Code == diag.UnknownMarker })
}

// TestManualHeaders holds the lists of fields and of header forms.
func TestManualHeaders(t *testing.T) {
	var fields []string
	for _, f := range spec.FieldNames {
		fields = append(fields, string(f))
	}
	sameSet(t, "fields", manualTable(t, "field").column(0), fields)
	for _, f := range manualTable(t, "field").rows {
		standard := slices.Contains(spec.StandardFields, spec.FieldName(code(f[0])))
		if standard != (f[1] == "yes") {
			t.Errorf("%s: field %s is required: %v", manualPath, f[0], standard)
		}
	}
	var forms []string
	for f := spec.FencedText; f <= spec.HeadedPlain; f++ {
		forms = append(forms, f.String())
	}
	sameSet(t, "header forms", manualTable(t, "form").column(0), forms)
}

// TestManualVerdicts holds the list of verdicts to the one of the proofs.
func TestManualVerdicts(t *testing.T) {
	var want []string
	for v := proof.Proved; v <= proof.Failed; v++ {
		want = append(want, v.String())
	}
	sameSet(t, "verdicts", manualTable(t, "verdict").column(0), want)
}

// TestManualStatuses holds the exit statuses to the constants of the command.
func TestManualStatuses(t *testing.T) {
	f, err := goparser.ParseFile(token.NewFileSet(), filepath.FromSlash("../../cmd/hecategen/command.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.ValueSpec); ok && len(s.Values) == 1 && strings.HasPrefix(s.Names[0].Name, "exit") {
			if l, ok := s.Values[0].(*ast.BasicLit); ok {
				want = append(want, l.Value)
			}
		}
		return true
	})
	sameSet(t, "exit statuses", manualTable(t, "status").column(0), want)
}

// TestManualGrammar checks that the grammar is closed: every name has one
// production, and every production but the first is used.
func TestManualGrammar(t *testing.T) {
	i := slices.IndexFunc(manual(t).page.Blocks, func(b *spec.Block) bool { return b.Info == "ebnf" })
	if i < 0 {
		t.Fatal("the manual has no fence `ebnf`")
	}
	text := regexp.MustCompile(`"[^"]*"|\(\*.*?\*\)|\?[^?]*\?`).ReplaceAllStringFunc(manual(t).page.Blocks[i].Text, func(string) string { return " " })
	defined, used := map[string]int{}, map[string]bool{}
	first := ""
	for prod := range strings.SplitSeq(text, ".\n") {
		name, body, ok := strings.Cut(prod, "=")
		if name = strings.TrimSpace(name); !ok {
			continue
		}
		first = cmp.Or(first, name)
		defined[name]++
		for _, w := range regexp.MustCompile(`[a-zA-Z]\w*`).FindAllString(body, -1) {
			used[w] = true
		}
	}
	for n, k := range defined {
		if k != 1 {
			t.Errorf("%s has %d productions", n, k)
		}
		if !used[n] && n != first {
			t.Errorf("nothing uses %s", n)
		}
	}
	for n := range used {
		if defined[n] == 0 {
			t.Errorf("%s has no production", n)
		}
	}
}

// sameSet compares two lists whose order does not matter.
func sameSet(t *testing.T, what string, got, want []string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	for _, g := range got {
		if !slices.Contains(want, g) {
			t.Errorf("%s: of the %s, %q does not exist", manualPath, what, g)
		}
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%s: of the %s, %q is missing", manualPath, what, w)
		}
	}
	if len(got) != len(slices.Compact(slices.Clone(got))) {
		t.Errorf("%s: one of the %s is listed twice", manualPath, what)
	}
}
