package main

import (
	"flag"
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/project"
)

// A command is the first word after hecategen.
type command struct {
	name     string
	args     string // what follows the name: "[flags] PATH…"
	min, max int    // how many arguments it takes; a max of −1 is any number
	short    string // one line, for the list
	define   func(c *command) runFunc
	long     string // paragraphs, for `help NAME`

	flags *flag.FlagSet
	run   runFunc
}

// commands, in the order in which help lists them.
var commands = []command{
	{name: "init", args: "[-specs DIR] [-go DIR]", max: 0, define: defineInit,
		short: "make the Go module here a project, with a first page",
		long: `
Make the Go module in the working directory a project. This writes hecate.toml,
which says where the pages are and where the generated code goes; a first page
with a rule and a model; a Go file beside it with the line for go generate, and
a test; and a main package, the command hecate with the rules of this module.
Nothing is written if one of these files exists.

The pages of a project use the library's, which this command carries: they name
its fronts, knobs, rules and compositions, and formulas may mix both.`},

	{name: "generate", args: "[-n] [-v] [-stats]", max: 0, define: defineGenerate,
		short: "prove the pages and write the generated files",
		long: `
Compile all pages of the project: parse, type, differentiate, prove, lower, and
write the generated packages. The project is the Go module around the working
directory, and its file hecate.toml says where the pages are (hecategen help
init). Nothing is written unless every page is free of errors, and no file is
ever written in part: the next run finishes or undoes an interrupted one. What
did not change since the last run is taken from a cache.`},

	{name: "check", args: "[-v] [PATH…]", max: -1, define: defineCheck,
		short: "parse, resolve and type pages; write nothing",
		long: `
Read the pages of the project, and those under the given files and folders,
resolve their names, citations and references, and type every equation of
every operation, rule, composition, model and update. Nothing is written.

Without a path the pages are proved too, and the generated files are compared
with those that the pages define. The exit status is 1 if they differ. What did
not change since the last run is not proved again.`},

	{name: "explain", args: "[CODE]", max: 1, define: defineExplain,
		short: "explain a diagnostic, with a wrong and a right example",
		long: `
Explain a diagnostic by its code, such as HEC2008 or 2008: when it occurs, an
example that is wrong and one that is right. Without a code, list all of them.`},

	{name: "inspect", args: "[-json] [-vjp] PATH…", min: 1, max: -1, define: defineInspect,
		short: "show the contents of any pages",
		long: `
Show the contents of the pages under the given files and folders: contract
headers and their fields, status, citations, cross references, labelled blocks
and the declarations of the pseudo-code. Any markdown page will do.

With -vjp, show instead the tables of adjoints on the pages and whether they
are right: each forward is differentiated, and each printed adjoint is compared
with the derivative at several sizes and points.`},

	{name: "fmt", args: "[-l] [-d] [-w] [-ascii] PATH…", min: 1, max: -1, define: defineFmt,
		short: "bring equations into their canonical spelling",
		long: `
Bring the hecate blocks of pages into their canonical spelling: one spelling of
every sign and name, one spacing, comments in a column. Prose is not changed.
Without -l, -d or -w the formatted pages are printed.

A page with errors is not changed. A page is replaced in one step: at every
moment the file is either the old one or the new one.`},

	{name: "prove", args: "[-deep] [-v] [PATH…]", max: -1, define: defineProve,
		short: "prove what the pages claim; write nothing",
		long: `
Prove or refuse every block of the pages under the given files and folders, or
of all pages of the project: shapes, inner gradients, adjoints, claims, kinks,
invariants, costs, markers, special cases. Each verdict is printed: proved,
tested, declared, prose only.`},

	{name: "derive", args: "[-ascii] NAME", min: 1, max: 1, define: defineDerive,
		short: "print a derived backward in the page's notation",
		long: `
Print the adjoints of a rule's step, of an operation, or of a composition or
model as equations in the notation of the page: bars for adjoints, matrix
products where there are any, Σ and indices elsewhere. Inner gradients come
first. Every line after the word claim is one that the page could state and
that would hold. The backward of a part of a composition is not written out:
it is a call of the part's name with a bar, in a comment.`},

	{name: "dump", args: "-after=PASS PAGE", min: 1, max: 1, define: defineDump,
		short: "print the output of any pass of the compiler for one page",
		long:  "Print the output of a pass for each unit of a page:\n\n" + dumpable()},

	{name: "audit", args: "[-json] [-paper KEY] [-v]", max: 0, define: defineAudit,
		short: "list the symbols and tests of equations, the equations of symbols, and the gaps",
		long: `
List for every equation of the project's pages the generated symbol that
computes it and the test that checks it, and for every generated symbol its
equation; then the coverage and the gaps by name.

With -paper titans list instead every equation of that paper, as papers.md has
them, with the lines that cite it and what each says of it: as printed, in what
it differs, or that the print is wrong; and why an equation has no page.`},

	{name: "synth", args: "[-over FRONT] [-o DIR] STRUCTURE BIAS RETENTION ALGORITHM", min: 4, max: 4, define: defineSynth,
		short: "make a rule of four knobs, as a package of yours",
		long: `
Make a memory rule of a structure, a bias, a retention and an algorithm, each
with its options: 'Huber(delta = 2)', in either spelling. The formula is checked
and proved like a page, and printed with its tests as one package into a folder
of its own, in any module that requires ` + project.Library + `.
A combination that the pages forbid is refused with their reason.`},

	{name: "sweep", args: "[-o DIR] [-only REGEXP] [-for TIME]", max: 0, define: defineSweep,
		short: "compile, prove and run every legal combination of the knobs",
		long: `
Go through every legal combination of structure, bias, retention and algorithm
on all cores: compile it in memory, prove it in float64 and run it for 100 and
for 1,000 tokens from its first states. Combinations that fail and those that
degenerate (a number that is not finite, a state without bound or at zero, gates
at their ends, a constant output) are reported by name and by knob, as markdown
and as CSV. The same command continues a sweep that was stopped.`},

	{name: "docs", args: "[-o DIR] [-v]", max: 0, define: defineDocs,
		short: "write the reference, as markdown and as one HTML file",
		long: `
Write a reference entry for every unit of the pages: its purpose, its equations
with their ids, the derived backward, cost, properties, the verdicts of the
proof, partners, options, parameters, memory and kernels; and the tables of
combinations. DIR/markdown has one file for each entry, DIR/index.html has all
of it in one file that loads nothing from elsewhere.`},

	{name: "cuda", args: "[-out FOLDER]", max: 0, define: defineCuda,
		short: "write the CUDA kernels of all pages into a folder",
		long: `
Compile all pages of the project and write the CUDA text of their kernels, with
its manifest and the header that it includes, into a folder under the root of
the project. Files of an earlier run that are no longer needed are removed. A
project whose hecate.toml names a folder in the key cuda does not need this:
generate writes the same text.`},

	{name: "version", max: 0, define: defineVersion,
		short: "print the version of this compiler and of the pages that it carries",
		long: `
Print the version of the module, the revision that it was built from, a digest
of the library's pages that the command carries, and the version of Go that
built it.`},
}

// dumpable lists the passes that can be dumped.
func dumpable() string {
	var lines []string
	for _, p := range gen.Pipeline {
		if p.Dump != nil || p.DumpPage != nil {
			lines = append(lines, fmt.Sprintf("  %-12s%s", p.Name, p.Does))
		}
	}
	return strings.Join(lines, "\n")
}
