package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/knobs"
)

// Choices is the table of the generated test of package safety: its table of legal
// combinations, and the types that stand for the same. The tests run in the folder of
// the package and type-check its file safety.go with other code.
type Choices struct {
	Table *knobs.Table
	Check func(structure, bias, retention, algorithm string) error // of the package

	Types       [][]ChoiceType    // by slot and value
	Constraints map[string]string // the name of the constraint, by "mark: reason"
}

// A ChoiceType is the type of a value: the earlier slots that it is generic over, and
// the type that stands for it where others are generic over it ("" for itself).
type ChoiceType struct {
	Name string
	Over []int
	Kind string
}

// Test runs all checks.
func (c Choices) Test(t *testing.T) {
	t.Run("legality", c.legality)
	t.Run("links", c.links)
	t.Run("unknown", c.unknown)
	t.Run("strangers", c.strangers)
}

// combinations calls f with every combination, legal or not, as indices.
func (c Choices) combinations(f func(at []int)) {
	at := make([]int, len(c.Table.Slots))
	var next func(slot int)
	next = func(slot int) {
		if slot == len(at) {
			f(at)
			return
		}
		for at[slot] = range c.Table.Slots[slot].Values {
			next(slot + 1)
		}
	}
	next(0)
}

// names are the values of a combination.
func (c Choices) names(at []int) []string {
	var out []string
	for i, v := range at {
		out = append(out, c.Table.Slots[i].Values[v])
	}
	return out
}

// legal walks the table.
func (c Choices) legal(at []int) error {
	n := c.names(at)
	return c.Check(n[0], n[1], n[2], n[3])
}

// arguments are the type arguments of the Rule of a combination.
func (c Choices) arguments(at []int) []string {
	var args, kinds []string
	for i, v := range at {
		s := c.Types[i][v]
		var over []string
		for _, d := range s.Over {
			o := c.Types[d][at[d]]
			over = append(over, cmp.Or(o.Kind, o.Name))
		}
		if len(over) > 0 {
			s.Name += "[" + strings.Join(over, ", ") + "]"
		}
		args = append(args, s.Name)
		if s.Kind != "" {
			kinds = append(kinds, s.Kind)
		}
	}
	return append(args, kinds...)
}

func ruleOf(args []string) string { return "Rule[" + strings.Join(args, ", ") + "]" }

// safetyFile parses the types of the package.
func safetyFile(t *testing.T, fset *token.FileSet) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(fset, "safety.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// compiler type-checks a list of types inside the package and returns what the
// compiler says of each.
func compiler(t *testing.T, exprs []string) [][]string {
	t.Helper()
	const head = "package safety\n\nvar (\n"
	fset := token.NewFileSet()
	files := []*ast.File{safetyFile(t, fset)}
	all, err := parser.ParseFile(fset, "all.go", head+"\t_ "+strings.Join(exprs, "\n\t_ ")+"\n)\n", parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	said := make([][]string, len(exprs))
	cfg := types.Config{Error: func(err error) {
		var e types.Error
		if !errors.As(err, &e) {
			t.Fatal(err)
		}
		if p := fset.Position(e.Pos); p.Filename == "all.go" {
			line := p.Line - 1 - strings.Count(head, "\n")
			said[line] = append(said[line], e.Msg)
		} else {
			t.Errorf("%v: %s", p, e.Msg)
		}
	}}
	cfg.Check("safety", fset, append(files, all), nil)
	return said
}

// legality type-checks every combination and compares the verdict, and the name of the
// constraint, with what Check says. The compiler names one reason where several speak
// against a combination.
func (c Choices) legality(t *testing.T) {
	var all [][]int
	var exprs []string
	c.combinations(func(at []int) {
		all = append(all, slices.Clone(at))
		exprs = append(exprs, ruleOf(c.arguments(at)))
	})
	legal, wrong := 0, 0
	for i, said := range compiler(t, exprs) {
		err, message := c.legal(all[i]), strings.Join(said, "; ")
		switch {
		case err == nil && len(said) == 0:
			legal++
		case err == nil:
			wrong++
			t.Errorf("%s is legal, but the compiler says: %s", exprs[i], message)
		case len(said) == 0:
			wrong++
			t.Errorf("%s compiles, but %v", exprs[i], err)
		case !c.reasoned(c.Table.Unmet(c.names(all[i])), message):
			t.Errorf("%s: the compiler does not give the reason, %v: %s", exprs[i], err, message)
		}
	}
	t.Logf("%d combinations: %d legal, %d illegal, %d disagreements", len(exprs), legal, len(exprs)-legal-wrong, wrong)
}

// reasoned reports whether a message has the name of one of the reasons.
func (c Choices) reasoned(why []*knobs.Illegal, message string) bool {
	return slices.ContainsFunc(why, func(w *knobs.Illegal) bool {
		return strings.Contains(message, c.Constraints[w.Mark+": "+w.Reason])
	})
}

// links puts a value that was made for one choice beside another.
func (c Choices) links(t *testing.T) {
	var exprs []string
	seen := map[string]bool{}
	c.combinations(func(at []int) {
		if c.legal(at) != nil {
			return
		}
		for d, s := range c.Table.Slots {
			b := slices.Clone(at)
			for b[d] = range s.Values {
				if b[d] == at[d] || c.legal(b) != nil {
					continue
				}
				for i := range at {
					// Whatever the other slots have, the two do not fit.
					link := fmt.Sprint(i, at[i], d, at[d], b[d])
					if slices.Contains(c.Types[i][at[i]].Over, d) && !seen[link] {
						seen[link] = true
						args := c.arguments(at)
						args[i] = c.arguments(b)[i]
						exprs = append(exprs, ruleOf(args))
					}
				}
			}
		}
	})
	if len(exprs) == 0 {
		t.Skip("no value depends on another")
	}
	for i, said := range compiler(t, exprs) {
		if len(said) == 0 {
			t.Errorf("%s compiles", exprs[i])
		}
	}
}

// unknown asks for values that no page has.
func (c Choices) unknown(t *testing.T) {
	for i, s := range c.Table.Slots {
		n := c.names(make([]int, len(c.Table.Slots)))
		n[i] = "NoSuchValue"
		var unknown *knobs.Unknown
		if err := c.Check(n[0], n[1], n[2], n[3]); !errors.As(err, &unknown) || unknown.Slot != s.Word {
			t.Errorf("Check(%v) = %v, want an Unknown %s", n, err, s.Word)
		}
	}
}

// strangers tries to get past the constraints from another package.
func (c Choices) strangers(t *testing.T) {
	fset := token.NewFileSet()
	var quiet types.Config
	pkg, err := quiet.Check("safety", fset, []*ast.File{safetyFile(t, fset)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, forged := range c.forgeries() {
		f, err := parser.ParseFile(fset, "stranger.go", "package stranger\n\nimport . \"safety\"\n\n"+forged, parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%v in %s", err, forged)
		}
		cfg := types.Config{Importer: only{pkg}}
		if _, err := cfg.Check("stranger", fset, []*ast.File{f}, nil); err == nil {
			t.Errorf("this compiles:\n%s", forged)
		}
	}
}

// An only imports one package.
type only struct{ pkg *types.Package }

func (o only) Import(string) (*types.Package, error) { return o.pkg, nil }

// forgeries are ways to make a value that no page has.
func (c Choices) forgeries() []string {
	var legal []int
	c.combinations(func(at []int) {
		if legal == nil && c.legal(at) == nil {
			legal = slices.Clone(at)
		}
	})
	if legal == nil {
		return nil
	}
	var out []string
	for i, s := range c.Table.Slots {
		args := c.arguments(legal)
		real := args[i]
		args[i] = "Mine"
		use := "var _ " + ruleOf(args) + "\n"
		out = append(out,
			fmt.Sprintf("type Mine struct{ %s }\n%s", real, use),
			fmt.Sprintf("type Mine %s\n%s", real, use),
			fmt.Sprintf("type Mine struct{ _ [0]func() }\nfunc (Mine) String() string { return %q }\n%s", s.Values[0], use))
	}
	return out
}
