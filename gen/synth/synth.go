// Package synth makes a rule of a formula that is on no page. The formula becomes a page
// in memory, beside those of the project, and is compiled like every page: it is checked,
// proved, lowered and printed, with the tests and vectors of every rule. Only this one
// unit is compiled, into one package for any module that requires the library.
package synth

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/tree"
	"github.com/nl-hecate/hecate/gen/units"
)

// A Formula is a rule as its parts, each in the notation of a page.
type Formula struct {
	Name  string   // of the rule; "" makes one of the names of the knobs
	Knobs []string // structure, bias, retention, algorithm: Name(δ = 2)
	Over  string   // the front: Name(unit = on)
	With  string   // overrides: θ := 1; "" for none
}

// rule is a block with the rule; without knobs it has a front only.
func (f Formula) rule() string {
	equals := " = "
	if len(f.Knobs) == 0 {
		equals = ""
	}
	return "```hecate\nrule " + f.Name + equals + f.String() + "\nprovides Causal\n```\n"
}

// String is the formula as a page writes it.
func (f Formula) String() string {
	text := strings.Join(f.Knobs, " + ") + " over " + f.Over
	if f.With != "" {
		text += " with " + f.With
	}
	return text
}

// FormulaPage is the path of the page of a formula in messages.
const FormulaPage = "(formula)"

// words are the names of the knobs of a formula, without their options.
func (f Formula) words() []string {
	var out []string
	for _, k := range f.Knobs {
		k = strings.TrimSpace(k)
		if i := strings.IndexFunc(k, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }); i >= 0 {
			k = k[:i]
		}
		out = append(out, k)
	}
	return out
}

// Page is the Page of the formula; about says what its header does.
func (f Formula) Page(about string) *source.File {
	name := f.Name
	if name == "" {
		name = strings.Join(f.words(), "")
	}
	f.Name = name
	return source.NewFile(FormulaPage, f.rule()+"\n```text\nCONTRACT\n"+
		"  Purpose:    The memory rule "+f.String()+about+"\n"+
		"  Expects:    What its knobs expect\n"+
		"  Guarantees: The answer at a token depends on no later token\n"+
		"  Cost:       That of its knobs\n"+
		"  Trade-off:  None that its knobs do not name\n"+
		"  Position:   none\n"+
		"  Source:     none\n```\n")
}

// A Synthesis is a rule made of a formula.
type Synthesis struct {
	Name    string // of the rule
	Formula string
	Folder  string // of the package, one name
	Package string
	Proof   *proof.Report
	Files   tree.Files // under the parent of the folder
}

// Totals counts the verdicts on the rule.
func (y *Synthesis) Totals() string { return (&gen.Proof{Units: []*proof.Report{y.Proof}}).Totals() }

// New proves a formula over the pages of a project and prints it as the package pkg in a
// folder; a folder is one name, and "" for both is the id of the rule. Nothing is returned
// when there is an error.
func New(c gen.Config, f Formula, folder, pkg string) (*Synthesis, diag.List) {
	page := f.Page(f.about(c))
	s, ds := c.Load(page)
	if ds.HasErrors() {
		return nil, ds
	}
	u := s.Tree.Order[len(s.Tree.Order)-1]
	for _, v := range s.Tree.Order {
		if v.Span.File == page {
			u = v
		}
	}
	if checkOrder(s, u, &ds); ds.HasErrors() {
		return nil, ds
	}
	id := strings.ReplaceAll(ident.ID(u.Name.Text), "_", "")
	y := &Synthesis{Name: u.Name.Text, Formula: f.String(), Folder: cmp.Or(folder, id), Package: cmp.Or(pkg, id)}
	s.SetTitle(page, "synth "+y.Formula)
	var more diag.List
	y.Proof, y.Files, more = gen.EmitUnit(s, u, abi.Home{Folder: y.Folder, Package: y.Package})
	if ds.Append(more); ds.HasErrors() {
		return nil, ds
	}
	return y, ds
}

// checkOrder refuses a formula of anything but one knob of each kind, in order.
func checkOrder(s *gen.Source, u *notation.Unit, ds *diag.List) {
	if u.Formula == nil {
		return
	}
	kinds := []notation.UnitKind{notation.StructUnit, notation.BiasUnit, notation.RetentionUnit, notation.AlgorithmUnit}
	for i, a := range u.Formula.Parts {
		if v := s.Tree.Units[a.Name.Text]; v != nil && i < len(kinds) && v.Kind != kinds[i] {
			ds.Errorf(diag.WrongPageKind, a.Name.Span, "%s is %s, but %s is needed here", a.Name.Text, units.KindName(v.Kind), units.KindName(kinds[i])).
				See(v.Name.Span, "%s is defined here", a.Name.Text).Hint("the order is structure, bias, retention, algorithm")
			return
		}
	}
}

// about lists the purposes of the pages of the knobs.
func (f Formula) about(c gen.Config) string {
	s, _ := c.Load()
	var out []string
	for _, w := range f.words() {
		if u := s.Tree.Units[w]; u != nil {
			if p := s.Purpose(u); p != "" {
				out = append(out, fmt.Sprintf("the %s %s: %s", u.Kind.String(), w, strings.TrimSuffix(strings.ToLower(p[:1])+p[1:], ".")))
			}
		}
	}
	if len(out) == 0 {
		return "."
	}
	return " (" + strings.Join(out, "; ") + ")."
}

// Write puts the files of a synthesis under a folder that exists. The package
// owns its folder: files that are there must be of an earlier synthesis.
func (y *Synthesis) Write(root string) (tree.Report, error) {
	if strangers := y.strangers(root); len(strangers) > 0 {
		const most = 3
		names := strings.Join(strangers[:min(most, len(strangers))], ", ")
		if more := len(strangers) - most; more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		return tree.Report{}, fmt.Errorf("%s has files that no synthesis wrote: %s; a rule needs a folder of its own",
			filepath.Join(root, y.Folder), names)
	}
	return tree.Apply(root, []string{y.Folder}, y.Files)
}

// synthesised matches the first line of a file of a synthesis. Files of regions name no
// formula.
var synthesised = regexp.MustCompile(`Code generated by hecategen(\. | from synth )`)

// strangers lists the files of the folder that no synthesis wrote.
func (y *Synthesis) strangers(root string) []string {
	var out []string
	folder := filepath.Join(root, y.Folder)
	var names []string
	_ = filepath.WalkDir(folder, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !tree.Litter(d.Name()) {
			names = append(names, p)
		}
		return nil
	})
	for _, p := range names {
		text, err := os.ReadFile(p)
		if err != nil || !synthesised.MatchString(firstLine(string(text))) {
			rel, _ := filepath.Rel(folder, p)
			out = append(out, rel)
		}
	}
	return out
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
