package gen_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The import rule. It is a statement of policy: do not change it to make a
// build pass. Each line says what the packages of a folder may import from
// this module; the longest folder that fits counts, and a package may always
// import what is below its own folder. `gen/*` stands for all of gen.
//
// An import with a `!` is one that the principle of the table forbids (a step
// sees data, never another step) and that is allowed for the reason beside it.
// One that nothing uses any more is reported, so that the list only shrinks.
const importRule = `
# the compiler: data at the bottom
gen/source:
gen/shape:
gen/diag:         gen/source
gen/ident:        internal/spelling
gen/spec:         gen/source
gen/notation:     gen/source gen/diag gen/ident
gen/notation/parser: gen/source gen/diag gen/notation internal/spelling
gen/units:        gen/source gen/diag gen/ident gen/notation
gen/ir:           gen/source gen/shape
gen/plan:         gen/shape gen/ir
gen/abi:          gen/shape gen/ir gen/plan

# passes over one kind of program, which several steps run
gen/simplify:     gen/shape gen/ir
gen/dependence:   gen/shape gen/plan
gen/loopopt:      gen/shape gen/ir gen/plan

# steps: one arrow of the pipeline each
gen/markdown:     gen/source gen/diag gen/spec internal/spelling
gen/check:        gen/source gen/diag gen/shape gen/ident gen/notation gen/units
gen/check/expand: gen/source gen/diag gen/ident gen/notation gen/units
gen/irbuild:      gen/diag gen/notation gen/check gen/ir
gen/irbuild/tensor:  gen/diag gen/shape gen/ident gen/notation gen/ir
gen/irbuild/program: gen/source gen/diag gen/ident gen/notation gen/check gen/ir
gen/irbuild/expr:    gen/diag gen/shape gen/ident gen/notation gen/check gen/ir gen/simplify gen/autodiff! gen/irbuild/tensor gen/irbuild/program
gen/irbuild/form:    gen/ir gen/irbuild/tensor
gen/irbuild/scan:    gen/diag gen/ident gen/notation gen/check gen/ir gen/irbuild/tensor gen/irbuild/program gen/irbuild/expr
gen/irbuild/chunked: gen/diag gen/shape gen/ident gen/notation gen/check gen/ir gen/irbuild/tensor gen/irbuild/program gen/irbuild/expr gen/irbuild/form gen/irbuild/scan
gen/irbuild/rule:    gen/diag gen/check gen/ir gen/irbuild/program gen/irbuild/scan gen/irbuild/chunked
gen/irbuild/compose: gen/diag gen/shape gen/ident gen/notation gen/check gen/ir gen/irbuild/tensor gen/irbuild/program gen/irbuild/expr gen/irbuild/rule
gen/irbuild/update:  gen/diag gen/ident gen/notation gen/check gen/ir gen/irbuild/tensor gen/irbuild/program gen/irbuild/expr
gen/irbuild/claim:   gen/diag gen/shape gen/ident gen/notation gen/check gen/ir gen/autodiff! gen/irbuild/tensor gen/irbuild/program gen/irbuild/expr gen/irbuild/scan gen/irbuild/compose gen/irbuild/update
gen/autodiff:     gen/shape gen/ir gen/simplify
gen/interp:       gen/shape gen/ir
gen/lower:        gen/shape gen/ir gen/simplify gen/plan gen/loopopt
gen/outline:      gen/ir
gen/emitgo:       gen/shape gen/ir gen/plan gen/loopopt gen/abi
gen/emitgo/gotext: gen/shape gen/plan gen/clike
gen/emitgo/gokernel: gen/shape gen/ir gen/plan gen/clike gen/loopopt gen/emitgo/gotext
gen/fuse:         gen/shape gen/ir gen/plan
gen/emitasm:      gen/shape gen/ir gen/plan gen/loopopt
gen/emitasm/gemm: gen/emitasm/neon
gen/emitasm/neon:
gen/clike:        gen/ident gen/shape gen/ir gen/plan
gen/emitcuda:     gen/shape gen/ir gen/plan gen/dependence gen/clike gen/abi templates cuda
gen/tree:
# the tests of generated code, evaluated by the interpreter
gen/vectors:      gen/prove/numeric gen/prove/interval gen/source gen/diag gen/ident gen/units gen/notation gen/check gen/ir gen/irbuild gen/autodiff gen/interp gen/plan gen/abi gen/emitgo gen/outline gen/tree internal/vectors
gen/cache:
gen/project:

# judges and readers: they look at what several steps make
gen/prove:        gen/source gen/diag gen/notation gen/ident gen/units gen/check gen/ir gen/irbuild
gen/prove/proof: gen/source gen/diag gen/notation gen/ident gen/units gen/check gen/irbuild
gen/prove/numeric: gen/ir gen/interp
gen/prove/interval: gen/shape gen/notation gen/ir gen/irbuild gen/prove/proof
gen/prove/recurrence: gen/ir gen/simplify
gen/prove/sample: gen/source gen/diag gen/shape gen/notation gen/ident gen/check gen/ir gen/irbuild gen/interp gen/prove/proof gen/prove/numeric gen/prove/interval
gen/prove/gradient: gen/source gen/diag gen/notation gen/ident gen/check gen/ir gen/ir/irtest gen/irbuild gen/autodiff gen/interp gen/prove/proof gen/prove/numeric gen/prove/sample
gen/prove/equivalence: gen/diag gen/notation gen/ident gen/units gen/check gen/ir gen/irbuild gen/autodiff gen/simplify gen/interp gen/prove/proof gen/prove/numeric gen/prove/sample
gen/prove/claim: gen/diag gen/notation gen/ident gen/check gen/ir gen/irbuild gen/autodiff gen/interp gen/prove/proof gen/prove/numeric gen/prove/sample gen/prove/equivalence
gen/prove/invariant: gen/diag gen/notation gen/ident gen/check gen/ir gen/irbuild gen/interp gen/prove/proof gen/prove/numeric gen/prove/interval gen/prove/sample gen/prove/equivalence
gen/prove/marker: gen/diag gen/notation gen/ident gen/check gen/ir gen/irbuild gen/interp gen/prove/proof gen/prove/numeric gen/prove/recurrence gen/prove/sample gen/prove/invariant
gen/prove/cost: gen/diag gen/shape gen/notation gen/units gen/check gen/ir gen/irbuild gen/simplify gen/prove/proof gen/prove/recurrence gen/prove/sample
gen/prove/mutation: gen/source gen/diag gen/notation gen/units gen/check gen/ir gen/irbuild gen/autodiff gen/interp gen/prove/proof gen/prove/numeric gen/prove/sample gen/prove/equivalence
gen/prove/witness: gen/source gen/diag gen/notation gen/notation/parser gen/units gen/check gen/ir gen/irbuild gen/autodiff gen/interp gen/prove/numeric gen/prove/sample
gen/safety:       internal/parallel gen/source gen/diag gen/shape gen/notation gen/ident gen/units gen/check gen/ir gen/irbuild gen/abi
gen/derive:       gen/source gen/diag gen/shape gen/notation gen/notation/parser gen/ident gen/units gen/check gen/ir gen/irbuild gen/autodiff gen/simplify
gen/inspect:      gen/source gen/diag gen/spec gen/markdown!
gen/vjpcheck:     gen/source gen/diag gen/spec gen/notation gen/ident gen/units gen/check gen/ir gen/irbuild gen/autodiff gen/interp gen/inspect!
gen/vjpcheck/pseudo:

# the pipeline: the one place that sees all passes
gen:              gen/* internal/parallel

# drivers: each runs the pipeline for a command and reports on what it makes
gen/audit:        gen
gen/docs:         gen templates internal/parallel
gen/sweep:        gen internal/parallel
gen/synth:        gen
gen/trace:        gen

cmd/hecategen:    gen gen/* .
examples/cprinter: gen gen/*
cmd/mutate:       gen gen/* internal/vectors internal/parallel

# what runs
.:
runtime:          runtime internal/spelling
validation/conformance: runtime internal/vectors
generated:        runtime generated
command:          runtime validation/opticks internal/spelling
cmd/hecate:       command generated
cmd/hecatevet:
internal:
internal/vectors:
internal/cudashim: cuda
internal/fakecuda: internal/cudashim
validation/experiments: runtime generated validation/opticks
validation/opticks:
templates:
cuda:
validation/bench: runtime generated gen gen/*
`

// exceptions are the reasons for each `!` of the import rule.
var exceptions = map[string]string{
	"gen/irbuild/expr gen/autodiff":  "a ∇ inside an equation is derived while the equation is built",
	"gen/irbuild/claim gen/autodiff": "an adjoint in a claim is derived while the claim is built",
	"gen/inspect gen/markdown":       "inspect is a command of its own: it reads pages and resolves what they cite",
	"gen/vjpcheck gen/inspect":       "it takes the tables of adjoints that inspect found",
}

// testsMay are what test files may import beyond their package.
const testsMay = `
gen:              gen gen/* internal/vectors internal/cudashim .
runtime:          runtime internal validation/opticks
runtime/cuda:     cuda internal
generated:        runtime generated internal/vectors validation/conformance
command:          runtime generated internal validation/opticks
internal:         internal
validation/bench: internal
examples:         gen gen/* generated runtime
validation/zero:  runtime generated internal
validation/bits:  runtime generated
validation/lifecycle: runtime internal generated
validation/device: runtime internal generated
validation/protocol: runtime generated internal gen gen/*
`

// thirdParty lists the packages from outside and who may import them; a line
// more needs a line more in ARCHITECTURE.md. The second table is for tests.
const (
	thirdParty = `
github.com/yuin/goldmark:            gen/markdown gen/docs
github.com/dave/jennifer:            gen/emitgo validation/bench/emit
github.com/rogpeppe/go-internal:     cmd/hecategen
gonum.org/v1/plot:                   command validation/bench validation/experiments
gonum.org/v1/gonum:                  validation/experiments
golang.org/x/term:                   command cmd/hecategen
golang.org/x/text/unicode/norm:      runtime/tokenizer
github.com/spf13/cobra:              command
github.com/ebitengine/purego:        runtime/cuda internal/fakecuda
github.com/pelletier/go-toml/v2:     command gen/project
golang.org/x/mod:                    gen/project
golang.org/x/sys/cpu:                runtime/cpu command
golang.org/x/tools:                  cmd/hecatevet
golang.org/x/sys/unix:               runtime/stream
`
	thirdPartyTests = `
github.com/google/go-cmp:            gen runtime internal command
github.com/rogpeppe/go-internal:     gen runtime internal cmd command validation/extension
github.com/dave/jennifer:            gen/emitgo gen/random
golang.org/x/mod:                    cmd/hecategen
gonum.org/v1/gonum:                  gen runtime
`
)

const modulePath = "github.com/nl-hecate/hecate"

func TestImports(t *testing.T) {
	rule, forTests := policy(importRule), policy(testsMay)
	outside, outsideTests := policy(thirdParty), policy(thirdPartyTests)
	used := map[string]bool{}
	for _, f := range goFiles(t, "..") {
		dir := filepath.ToSlash(filepath.Dir(f.name))
		test := strings.HasSuffix(f.name, "_test.go")
		for _, imp := range f.imports {
			in, ours := strings.CutPrefix(imp, modulePath+"/")
			if imp == modulePath {
				in, ours = ".", true
			}
			switch {
			case ours:
				how := allowed(rule, dir, in)
				if how == "!" {
					used[dir+" "+in] = true
				}
				if how == "" && !(test && allowed(forTests, dir, in) != "") {
					t.Errorf("%s imports %s: the import rule does not allow it", f.name, in)
				}
			case strings.Contains(strings.Split(imp, "/")[0], "."):
				if !mayUse(outside, imp, dir) && !(test && mayUse(outsideTests, imp, dir)) {
					t.Errorf("%s imports %s: no line of the table of dependencies allows it", f.name, imp)
				}
			}
		}
	}
	for pair, reason := range exceptions {
		if !used[pair] {
			t.Errorf("nothing needs the exception %q (%s) any more: remove it", pair, reason)
		}
	}
}

// TestImportRuleHasReasons holds the marks of the rule to the reasons.
func TestImportRuleHasReasons(t *testing.T) {
	marked := 0
	for dir, ins := range policy(importRule) {
		for _, in := range ins {
			if name, ok := strings.CutSuffix(in, "!"); ok {
				marked++
				if exceptions[dir+" "+name] == "" {
					t.Errorf("%s → %s has no reason", dir, name)
				}
			}
		}
	}
	if marked != len(exceptions) {
		t.Errorf("%d marks for %d reasons", marked, len(exceptions))
	}
}

// policy reads a table of `name: words`.
func policy(text string) map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if name, words, ok := strings.Cut(line, ":"); ok {
			out[strings.TrimSpace(name)] = strings.Fields(words)
		}
	}
	return out
}

// allowed reports whether packages of a folder may import another: "" if not,
// "!" by way of exception.
func allowed(rule map[string][]string, dir, in string) string {
	at := dir
	for at != "." {
		if _, ok := rule[at]; ok {
			break
		}
		at = filepath.ToSlash(filepath.Dir(at))
	}
	if at != "." && at != "gen" && (in == at || strings.HasPrefix(in, at+"/")) {
		return "own"
	}
	for _, w := range rule[at] {
		name, bang := strings.CutSuffix(w, "!")
		folder, all := strings.CutSuffix(name, "/*")
		whole := all || !strings.Contains(name, "/")
		if in == name && !all || whole && strings.HasPrefix(in, folder+"/") {
			if bang {
				return "!"
			}
			return "rule"
		}
	}
	return ""
}

// mayUse reports whether a folder may import a package from outside.
func mayUse(table map[string][]string, imp, dir string) bool {
	for module, dirs := range table {
		if imp == module || strings.HasPrefix(imp, module+"/") {
			return slices.ContainsFunc(dirs, func(d string) bool { return dir == d || strings.HasPrefix(dir, d+"/") })
		}
	}
	return false
}

type goFile struct {
	name    string // under the root of the module
	imports []string
}

// goFiles lists the Go files of the module with what they import, whatever
// their build tags say.
func goFiles(t *testing.T, root string) []goFile {
	t.Helper()
	var out []goFile
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (d.Name() == "testdata" || d.Name() == "out" || strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		g := goFile{name: filepath.ToSlash(rel)}
		for _, s := range f.Imports {
			p, err := strconv.Unquote(s.Path.Value)
			if err != nil {
				return err
			}
			g.imports = append(g.imports, p)
		}
		out = append(out, g)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
