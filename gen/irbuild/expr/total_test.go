package expr_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/source"
)

// spelled is how a page writes the primitives that have no name of a function:
// an operation with matrices A and B, a vector x and a number c.
var spelled = map[ir.Op]string{
	ir.Prod:      "A B",
	ir.Lin:       "A + B",
	ir.Const:     "max(c, 2)",
	ir.SizeOf:    "n x",
	ir.Iota:      "{ 1 if i = c ; 0 otherwise }",
	ir.Stack:     "[x; c]",
	ir.Max:       "max_{j∈n}(x[j])",
	ir.Softmax:   "softmax_{j∈n}(x[j])",
	ir.LogSumExp: "logsumexp_{j∈n}(x[j])",
	ir.Div:       "A / c",
	ir.Pow:       "c^1.5",
	ir.Mod:       "c mod 2",
	ir.Less:      "{ 1 if c < 2 ; 0 otherwise }",
	ir.LessEq:    "{ 1 if c ≤ 2 ; 0 otherwise }",
	ir.Equal:     "{ 1 if c = 2 ; 0 otherwise }",
	ir.And:       "{ 1 if c > 1 and c < 2 ; 0 otherwise }",
	ir.Not:       "{ 1 if c ≠ 2 ; 0 otherwise }",
	ir.Select:    "{ c if c < 2 ; 0 otherwise }",
}

// elsewhere are the primitives that no expression of an operation becomes, and why.
var elsewhere = map[ir.Op]string{
	ir.Override: "an operation with eval or relax",
	ir.Reshape:  "an axis that a page declares as a product",
	ir.Narrow:   "the operands of matrix products, before the backward is derived",
	ir.Or:       "the prover negates guards with it; the language has no disjunction",
	ir.ToReal:   "a comparison of an integer input",
	ir.ScanOp:   "a rule with a state",
	ir.SolveOp:  "an unknown that an equation defines",
	ir.TriSolve: "a strategy whose equation sums itself",
}

// TestPrimitives builds an operation for every primitive that a page can write.
func TestPrimitives(t *testing.T) {
	text := maps.Clone(spelled)
	for name := range ir.PageFunctions() {
		op, _ := ir.PageFunction(name)
		text[op] = name + map[int]string{1: "(c)", 2: "(c, 2)"}[op.Info().Args]
	}
	for _, op := range ir.Ops() {
		e, ok := text[op]
		if ok == (elsewhere[op] != "") {
			t.Errorf("%s is spelled %q and built elsewhere %q: one of the two must say how pages write it", op, e, elsewhere[op])
		}
		if !ok {
			continue
		}
		target := "out"
		if op == ir.Iota {
			target = "out[i∈n]"
		}
		page := fmt.Sprintf("op X(A ∈ ℝ^{n×n}, B ∈ ℝ^{n×n}, x ∈ ℝ^{n}, c ∈ ℝ) → %s = %s", target, e)
		s, ds := gen.LoadFiles(source.NewFile("page.md", "# Page\n\n```text\nCONTRACT\n  Purpose: P\n  Expects: E\n  Guarantees: G\n  Cost: C\n  Trade-off: T\n  Position: here\n  Source: none\n```\n\n```hecate\n"+page+"\n```\n"))
		if ds.HasErrors() {
			t.Errorf("%s: %s", page, ds.Error())
			continue
		}
		blk, ds := check.Instantiate(s.Tree, s.Tree.Order[0])
		var more diag.List
		f := irbuild.Op(blk, &more)
		switch {
		case f == nil:
			t.Errorf("%s: %s%s", page, ds.Error(), more.Error())
		case !slices.ContainsFunc(f.Body, func(in *ir.Instr) bool { return in.Op == op }):
			t.Errorf("%s has no %s:\n%s", page, op, f)
		}
	}
}

// noValue are the nodes of expressions that have no value of their own.
var noValue = map[string]string{
	"Tuple":  "indices of a product axis, read by an index",
	"Frozen": "the call of a part, read by a composition",
	"List":   "settings and periods",
	"Set":    "values of an option",
}

// TestNodes holds the switch of OpenExpr to the nodes that package notation declares.
func TestNodes(t *testing.T) {
	var declared []string
	for _, d := range parse(t, "../../notation/ast_expr.go").Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "expr" && f.Recv != nil {
			declared = append(declared, f.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name)
		}
	}
	if len(declared) < 20 {
		t.Fatalf("only %d nodes were found", len(declared))
	}
	handled := map[string]bool{}
	ast.Inspect(parse(t, "expr.go"), func(n ast.Node) bool {
		if s, ok := n.(*ast.StarExpr); ok {
			if sel, ok := s.X.(*ast.SelectorExpr); ok && fmt.Sprint(sel.X) == "notation" {
				handled[sel.Sel.Name] = true
			}
		}
		return true
	})
	for _, name := range declared {
		if handled[name] == (noValue[name] != "") {
			t.Errorf("notation.%s is handled: %v; without a value: %q", name, handled[name], noValue[name])
		}
	}
	for name := range noValue {
		if !slices.Contains(declared, name) {
			t.Errorf("notation has no node %s", name)
		}
	}
}

func parse(t *testing.T, file string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestRecursion refuses functions that call themselves, once each and in time.
func TestRecursion(t *testing.T) {
	s, ds := gen.LoadFiles(source.NewFile("page.md", "# Page\n\n```text\nCONTRACT\n  Purpose: P\n  Expects: E\n  Guarantees: G\n  Cost: C\n  Trade-off: T\n  Position: here\n  Source: none\n```\n\n```hecate\nf(u ∈ ℝ) = f(u) + f(2 u)\n\nop X(x ∈ ℝ) → out = f(x)\n```\n"))
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	blk, ds := check.Instantiate(s.Tree, s.Tree.Order[len(s.Tree.Order)-1])
	if f := irbuild.Op(blk, &ds); f != nil || strings.Count(ds.Error(), "calls itself") != 1 {
		t.Errorf("%v %s", f, ds.Error())
	}
}
