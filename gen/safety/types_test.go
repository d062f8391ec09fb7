package safety_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/safety"
	"github.com/nl-hecate/hecate/gen/units"
)

// The emitted types of the legal combinations, as the compiler of Go sees them.

// compile type-checks one expression a line beside the emitted types.
func compile(t *testing.T, files map[string][]byte, exprs []string) [][]string {
	t.Helper()
	fset := token.NewFileSet()
	var parsed []*ast.File
	add := func(name string, text []byte) {
		f, err := parser.ParseFile(fset, name, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	add("safety.go", files["generated/safety/safety.go"])
	add("all.go", []byte("package safety\nvar (\n_ "+strings.Join(exprs, "\n_ ")+"\n)\n"))
	said := make([][]string, len(exprs))
	cfg := types.Config{Error: func(err error) {
		var e types.Error
		if !errors.As(err, &e) {
			t.Fatal(err)
		}
		p := fset.Position(e.Pos)
		if p.Filename != "all.go" {
			t.Fatalf("%v: %s", p, e.Msg)
		}
		said[p.Line-3] = append(said[p.Line-3], e.Msg)
	}}
	cfg.Check("safety", fset, parsed, nil)
	return said
}

// disagreements lists the combinations whose verdict by the table is not that
// of the compiler.
func disagreements(t *testing.T, tuples []safety.Tuple, c *abi.Choices, files map[string][]byte) []string {
	t.Helper()
	var exprs, out []string
	for _, u := range tuples {
		exprs = append(exprs, emitgo.SafetyType(c, u.Names()))
	}
	for i, said := range compile(t, files, exprs) {
		if tuples[i].Legal() != (len(said) == 0) {
			out = append(out, exprs[i]+": "+strings.Join(said, "; "))
		}
	}
	return out
}

func TestEveryCombination(t *testing.T) {
	want := map[string][2]int{"flat": {4, 3}, "knotted": {72, 13}}
	for name, s := range trees(t) {
		tab := table(t, s)
		tuples := tab.Tuples()
		files := emitgo.Safety(abi.Home{Folder: "generated"}, tab.Choices())
		for _, d := range disagreements(t, tuples, tab.Choices(), files) {
			t.Errorf("%s: table and compiler disagree about %s", name, d)
		}
		legal := 0
		for _, u := range tuples {
			if u.Legal() {
				legal++
			}
		}
		if w, known := want[name]; known && (len(tuples) != w[0] || legal != w[1]) {
			t.Errorf("%s: %d combinations, %d legal, want %v", name, len(tuples), legal, w)
		}
		t.Logf("%s: %d combinations, %d legal, %d illegal, 0 disagreements", name, len(tuples), legal, len(tuples)-legal)
	}
}

// TestBrokenTypes shows that the comparison sees a union that is too wide, one
// that is too narrow, and a table that lost a requirement.
func TestBrokenTypes(t *testing.T) {
	tab := table(t, load(t, flat...))
	tuples := tab.Tuples()
	const union = "Round_AWheelTurnsOnlyWhatIsRound interface{ Ring }"
	for _, broken := range []string{union, "Round_AWheelTurnsOnlyWhatIsRound interface{ Ring | Bowl }", "Round_AWheelTurnsOnlyWhatIsRound interface{ Bowl }"} {
		files := emitgo.Safety(abi.Home{Folder: "generated"}, tab.Choices())
		text := strings.ReplaceAll(string(files["generated/safety/safety.go"]), union, broken)
		files["generated/safety/safety.go"] = []byte(text)
		if got := disagreements(t, tuples, tab.Choices(), files); (broken == union) != (len(got) == 0) {
			t.Errorf("with %q: %d disagreements", broken, len(got))
		}
	}
	lost := *tab.Choices()
	lost.Needs = lost.Needs[1:]
	if got := disagreements(t, tuples, &lost, emitgo.Safety(abi.Home{Folder: "generated"}, &lost)); len(got) == 0 {
		t.Error("a requirement was dropped, and no combination became legal")
	}
}

// TestMessage shows the reason in what a user of the package reads.
func TestMessage(t *testing.T) {
	for name, s := range trees(t) {
		tab := table(t, s)
		var exprs []string
		var illegal []safety.Tuple
		for _, u := range tab.Tuples() {
			if !u.Legal() {
				illegal = append(illegal, u)
				exprs = append(exprs, emitgo.SafetyType(tab.Choices(), u.Names()))
			}
		}
		for i, said := range compile(t, emitgo.Safety(abi.Home{Folder: "generated"}, tab.Choices()), exprs) {
			all := strings.Join(said, "\n")
			// The compiler stops at the first choice that a value does not fit.
			if !slices.ContainsFunc(illegal[i].Why, func(v units.Violation) bool {
				return strings.Contains(all, camel(v.Mark.Name.Text)+"_"+camel(v.Reason()))
			}) {
				t.Errorf("%s: %s: no reason in:\n%s", name, exprs[i], all)
			}
		}
	}
}

// camel is the test's own reading of how a sentence becomes a name.
func camel(text string) string {
	out := ""
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" :,.()≤₀-", r) }) {
		r := []rune(w)
		out += strings.ToUpper(string(r[:1])) + string(r[1:])
	}
	return out
}

// TestGeneratedSuite runs the emitted tests of trees with other knobs, and
// breaks the emitted table to see them fail.
func TestGeneratedSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("builds packages")
	}
	for _, c := range []struct {
		name, file, old, new, want string
	}{
		{name: "whole"},
		{"table", "check.go", `round", Meets: []string{"Ring", "Orb"}`, `round", Meets: []string{"Ring", "Orb", "Bowl"}`, "is legal, but the compiler says"},
		{"union", "safety.go", "_ACubeDoesNotLeak interface{ Ring | Orb }", "_ACubeDoesNotLeak interface{ Ring | Orb | Bowl }", "compiles, but"},
		{"reason", "safety.go", "Still_AJumpNeedsASlope", "Some", "does not give the reason"},
		{"link", "safety.go", "retentionOver() S", "", "--- FAIL: TestChoices/links"},
		{"seal", "safety.go", "\t~struct{ choice }\n", "", "--- FAIL: TestChoices/strangers"},
	} {
		tab := table(t, load(t, knotted...))
		files := emitgo.Safety(abi.Home{Folder: "generated"}, tab.Choices())
		if c.file != "" {
			name := "generated/safety/" + c.file
			edited := strings.ReplaceAll(string(files[name]), c.old, c.new)
			if edited == string(files[name]) {
				t.Fatalf("%s: %s has no %q:\n%s", c.name, name, c.old, edited)
			}
			files[name] = []byte(edited)
		}
		out, err := goTest(t, files)
		if failed := err != nil; failed != (c.want != "") || !strings.Contains(out, c.want) {
			t.Errorf("%s: want %q, got %v:\n%s", c.name, c.want, err, out)
		}
	}
}

// goTest runs the tests of a package in a module of its own.
func goTest(t *testing.T, files map[string][]byte) (string, error) {
	t.Helper()
	const library = "github.com/nl-hecate/hecate"
	ours, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(ours, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", []byte("module knobs\n\ngo 1.26.0\n\nrequire "+library+" v0.0.0\n\nreplace "+library+" => "+filepath.ToSlash(ours)+"\n"))
	write("go.sum", sums)
	for name, text := range files {
		write(name, text)
	}
	cmd := exec.Command("go", "test", "-v", "-vet=all", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
