// Package gen is the compiler: it reads specification pages and writes generated files.
//
// Pipeline is the list of its passes. Open takes a project through the passes over pages,
// Emit through those over units and over all files, and Generate proves the project first
// and writes the files. CompileUnit takes one unit as far as its loop nests, and
// Source.Dump prints the output of a pass. Results of earlier runs come from a cache
// (gen/cache). The packages docs, sweep, audit, trace and synth run the pipeline for the
// commands of their names.
package gen

import (
	"io"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/emitasm"
	"github.com/nl-hecate/hecate/gen/emitcuda"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/fuse"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/spec"
)

// A Pass is one step of the compiler. It has one of three functions: Pages works on all
// pages, Unit on one unit of the project, and Project on all files. The passes over
// units run side by side for the units of a project.
type Pass struct {
	Name          string // as `hecategen dump -after` and `hecategen generate -stats` have it
	Input, Output string // the types of the data that it reads and makes
	Does          string // one line

	Pages   func(s *Source, ds *diag.List)
	Unit    func(c *unitCompiler)
	Project func(p *Project, e *Emission) diag.List
	Result  string // of a pass over units: the result of earlier runs that may replace it

	Verify func(c *unitCompiler) error // checks the output; nil where there is nothing to check
	Dump   func(c *unitCompiler, w io.Writer)

	DumpPage func(p *spec.Page, w io.Writer) error // in place of Dump, of a page as a whole
}

// Pipeline is the compiler: its passes in the order in which a project goes through
// them. After the last one tree.Apply writes the files.
var Pipeline = []Pass{
	{Name: "page", Input: "source.File", Output: "spec.Page", Pages: (*Source).parsePages,
		Does: "the page: contract, blocks, citations, outline", DumpPage: dumpPage},
	{Name: "notation", Input: "spec.Page", Output: "notation.File", Pages: (*Source).parseBlocks,
		Does: "the blocks, parsed, in their canonical spelling", Dump: dumpNotation},
	{Name: "tree", Input: "notation.File", Output: "units.Tree", Pages: (*Source).collect,
		Does: "the units of all pages, by name"},

	{Name: "prove", Input: "units.Tree", Output: "proof.Report", Unit: (*unitCompiler).prove, Result: proofStage,
		Does: "what is proved and tested of the unit", Dump: dumpProof},

	{Name: "check", Input: "units.Tree", Output: "check.Block", Unit: (*unitCompiler).resolve, Result: codeStage,
		Does: "the unit resolved: law written out, options set, equations in order", Dump: dumpBlock},
	{Name: "ir", Input: "check.Block", Output: "ir.Func", Unit: (*unitCompiler).build, Result: codeStage,
		Does: "the tensor programs", Verify: (*unitCompiler).verifyPrograms, Dump: dumpPrograms},
	{Name: "outline", Input: "ir.Func", Output: "ir.Func", Unit: (*unitCompiler).outline, Result: codeStage,
		Does: "the programs of a rule, with what its front computes as functions of their own", Verify: (*unitCompiler).verifyPrograms, Dump: dumpPrograms},
	{Name: "backward", Input: "ir.Func", Output: "ir.Func", Result: codeStage, // a part of the next pass, dumped by itself
		Does: "the programs with their adjoints added, before anything is simplified", Dump: dumpJoint},
	{Name: "simplified", Input: "ir.Func", Output: "ir.Pair", Unit: (*unitCompiler).differentiate, Result: codeStage,
		Does: "the forward and the backward program, simplified and divided", Verify: (*unitCompiler).verifyPairs, Dump: dumpPairs},
	{Name: "plan", Input: "ir.Pair", Output: "plan.Kernel", Unit: (*unitCompiler).lower, Result: codeStage,
		Does: "the loop nests, neutral between targets", Dump: dumpPlan},
	{Name: "abi", Input: "plan.Kernel", Output: "abi.Unit", Unit: (*unitCompiler).contract, Result: codeStage,
		Does: "the contract of the unit with its callers"},
	{Name: "fused", Input: "plan.Kernel", Output: "plan.Fused", Unit: (*unitCompiler).fuse, Result: codeStage,
		Does: "the loop nests in fused arithmetic, with the regions that vector units may compute", Dump: dumpFused},
	{Name: "asm", Input: "plan.Fused", Output: "tree.Files", Unit: (*unitCompiler).assembly, Result: codeStage,
		Does: "the generated assembly, for AVX-512, AVX2 and NEON", Dump: dumpAssembly},
	{Name: "go", Input: "abi.Unit", Output: "tree.Files", Unit: (*unitCompiler).goFiles, Result: codeStage,
		Does: "the generated Go", Dump: dumpGo},
	{Name: "cuda", Input: "abi.Unit", Output: "tree.Files", Unit: (*unitCompiler).cudaFiles, Result: codeStage,
		Does: "the generated CUDA kernels", Dump: dumpCUDA},

	{Name: "tests", Input: "units.Tree", Output: "tree.Files", Unit: (*unitCompiler).testFiles, Result: testStage,
		Does: "the generated tests and their vectors"},

	{Name: "registry", Input: "abi.Unit", Output: "tree.Files", Project: (*Project).registry,
		Does: "the registry of blocks and models, and the archive of the CUDA kernels"},
	{Name: "combinations", Input: "units.Tree", Output: "tree.Files", Project: (*Project).combinations,
		Does: "the types of the legal combinations of the knobs"},
}

// run takes the unit through the passes that make a result, up to the pass of a name,
// or all of them. It stops at the first error in the unit.
func (c *unitCompiler) run(result, last string) bool {
	for _, p := range c.passes {
		if p.Result != result {
			continue
		}
		if p.Unit != nil {
			c.stats.measure(p.Name, func() { p.Unit(c) })
		}
		if c.ds.HasErrors() {
			return false
		}
		if p.Verify != nil {
			if err := p.Verify(c); err != nil {
				panic("gen: BUG: " + c.unit.Name.Text + " after pass " + p.Name + ": " + err.Error())
			}
		}
		if p.Name == last {
			break
		}
	}
	return true
}

// prove proves what the page claims of the unit.
func (c *unitCompiler) prove() {
	rep, ds := prove.Block(c.src.Tree, c.unit, proof.Options{Deep: c.deep})
	c.report = rep
	c.ds.Append(ds)
}

// fuse gives the kernels their fused arithmetic.
func (c *unitCompiler) fuse() {
	units := c.packages()
	c.kernels = emitgo.KernelFiles(units)
	for _, u := range units {
		for _, k := range u.Kernels() {
			if c.conf.CUDA != NoCUDA {
				k.Archive = emitcuda.Name(u, k)
			}
		}
	}
	eachKernel(c.kernels, func(k *plan.Kernel) { k.Fused = fuse.Kernel(k) })
}

// assembly prints the regions of the fused arithmetic: to the package of all regions, or to
// that of a unit which is emitted alone.
func (c *unitCompiler) assembly() {
	maps.Copy(c.files, emitasm.Files(c.kernels, RegionPackage(c.out.Home)))
}

// RegionPackage is where the functions of regions go.
func RegionPackage(home abi.Home) emitasm.Package {
	if home.Package != "" {
		return emitasm.Package{Folder: home.Folder, Name: home.Package}
	}
	folder := home.Folder + "/regions"
	return emitasm.Package{Folder: folder, Import: home.Import(folder), Name: "regions"}
}

// goFiles prints the Go of the unit. That of an update names the update after its else.
func (c *unitCompiler) goFiles() {
	with := emitgo.Units{}
	if c.out.Else != nil {
		units, ds := c.units(abi.Applied{Unit: c.out.Else.Unit})
		c.ds.Append(ds)
		with = units
	}
	for _, u := range c.packages() {
		maps.Copy(c.files, emitgo.Unit(u, with))
	}
}

// cudaFiles prints the CUDA kernels, unless the project has none.
func (c *unitCompiler) cudaFiles() {
	if c.conf.CUDA == NoCUDA {
		return
	}
	for _, u := range c.packages() {
		path, _ := emitgo.Package(u)
		for _, f := range emitcuda.Unit(u) {
			f.Reference = path + "." + emitgo.References(u)
			c.cuda = append(c.cuda, f)
		}
	}
}

// Stats are the time and the allocated memory of the passes of one run. The runtime
// counts allocations of the whole process, so a run with Stats takes one unit at a time.
// A nil Stats measures nothing.
type Stats struct{ Passes []PassStats }

// PassStats is what one pass took for all units together. What a unit that it needs
// takes is counted with it: the tests of a composition compile its parts.
type PassStats struct {
	Name  string
	Runs  int // units, or 1 for a pass over all pages
	Time  time.Duration
	Bytes uint64 // allocated
}

// measure runs a pass and counts what it takes.
func (s *Stats) measure(pass string, run func()) {
	if s == nil {
		run()
		return
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	run()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	i := slices.IndexFunc(s.Passes, func(p PassStats) bool { return p.Name == pass })
	if i < 0 {
		i = len(s.Passes)
		s.Passes = append(s.Passes, PassStats{Name: pass})
	}
	p := &s.Passes[i]
	p.Runs++
	p.Time += took
	p.Bytes += after.TotalAlloc - before.TotalAlloc
}
