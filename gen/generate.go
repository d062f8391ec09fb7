package gen

import (
	"bytes"
	"errors"
	"maps"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/nl-hecate/hecate/gen/cache"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/emitasm"
	"github.com/nl-hecate/hecate/gen/emitcuda"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/fuse"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/tree"
	"github.com/nl-hecate/hecate/gen/units"
	"github.com/nl-hecate/hecate/internal/parallel"
)

// A project on its way to files: its units go through their stages side by side
// (unit_job.go), and then what belongs to all of them is put together: the registry, the
// table of the knobs, the manifest of the kernels.

// A Project is a loaded project.
type Project struct {
	*Source
	conf    Config
	cache   *cache.Cache
	digests map[*notation.Unit]cache.Input
	jobs    []*unitJob // of the project's own units, in the order of the pages
}

// Open loads the pages of a project. It is nil when they cannot be read.
func Open(c Config) (*Project, diag.List) {
	s, ds := c.Load()
	if ds.HasErrors() {
		return nil, ds
	}
	return newProject(s, c), ds
}

func newProject(s *Source, c Config) *Project {
	p := &Project{Source: s, conf: c, cache: cache.Open(c.Cache, c.Root), digests: s.digests()}
	for _, u := range s.Tree.Order {
		if s.Own(u) {
			p.jobs = append(p.jobs, newUnitJob(s, u, c, p.cache, p.digests))
		}
	}
	return p
}

// count tells whoever listens of the stages that are done, one at a time.
func (p *Project) count(stages int) {
	if p.conf.Seen == nil {
		return
	}
	var mu sync.Mutex
	done := 0
	for _, j := range p.jobs {
		j.seen = func(e Event) {
			mu.Lock()
			defer mu.Unlock()
			done++
			e.Done, e.All = done, stages
			p.conf.Seen(e)
		}
	}
}

// An Emission is what the pages of a project become.
type Emission struct {
	Source *Source             // with the units of the project and what they are made of
	Files  tree.Files          // by path under the root
	Cuts   map[string][]string // of each unit with code of its own, in what ways its results depend on the cut into calls

	codes []*code // of the jobs of the project
}

// Emit compiles the pages of a project and proves nothing. There is no emission when
// there is an error.
func Emit(c Config) (*Emission, diag.List) {
	p, ds := Open(c)
	if ds.HasErrors() {
		return nil, ds
	}
	e, ed := p.emit(false)
	ds.Append(ed)
	return e, ds
}

// EmitCode is Emit without tests, for a source.
func EmitCode(s *Source) (*Emission, diag.List) {
	return newProject(s, Config{CUDA: NoCUDA}).code()
}

// emit takes the project through the passes over units and those over all files; with
// proof set it proves the units first.
func (p *Project) emit(proof bool) (*Emission, diag.List) {
	emitted := 0
	for _, j := range p.jobs {
		if emits(j.unit) {
			emitted++
		}
	}
	stages := 2 * emitted
	if proof {
		stages += len(p.jobs)
	}
	p.count(stages)
	var ds diag.List
	if proof {
		_, pd := p.Prove(false)
		if ds.Append(pd); ds.HasErrors() {
			return nil, ds
		}
	}
	e, cd := p.code()
	ds.Append(cd)
	tests, td := sideBySide(p.jobs, (*unitJob).tests)
	if ds.Append(td); ds.HasErrors() {
		return nil, ds
	}
	for _, files := range tests {
		merge(e.Files, files)
	}
	for _, pass := range Pipeline {
		if pass.Project == nil {
			continue
		}
		p.conf.Stats.measure(pass.Name, func() { ds.Append(pass.Project(p, e)) })
		if ds.HasErrors() {
			return nil, ds
		}
	}
	return e, ds
}

// code prints the units.
func (p *Project) code() (*Emission, diag.List) {
	e := &Emission{Files: tree.Files{}, Cuts: map[string][]string{}}
	codes, ds := sideBySide(p.jobs, (*unitJob).code)
	var own []*notation.Unit
	for i, c := range codes {
		u := p.jobs[i].unit
		own = append(own, u)
		if c == nil {
			continue
		}
		merge(e.Files, c.Files)
		if c.Named == nil {
			e.Cuts[u.Name.Text] = c.Cut
		}
	}
	e.Source, e.codes = p.within(p.Tree.Closure(own...)), codes
	return e, ds
}

// merge puts files among others. Two units may share a function, and then both print
// the same files.
func merge(files, more tree.Files) {
	for name, text := range more {
		if old, ok := files[name]; ok && !bytes.Equal(old, text) {
			panic("gen: BUG: " + name + " has two texts: the hash of a function does not cover what its text depends on")
		}
		files[name] = text
	}
}

// sideBySide takes jobs through a stage on all cores. Results and messages are in the
// order of the jobs.
func sideBySide[T any](jobs []*unitJob, stage func(*unitJob) (T, diag.List)) ([]T, diag.List) {
	out := make([]T, len(jobs))
	lists := make([]diag.List, len(jobs))
	workers := runtime.GOMAXPROCS(0)
	if len(jobs) > 0 && jobs[0].conf.Stats != nil {
		workers = 1 // allocations are those of the process
	}
	parallel.Each(len(jobs), workers, func(i int) { out[i], lists[i] = stage(jobs[i]) })
	var ds diag.List
	for _, l := range lists {
		ds.Append(l)
	}
	return out, ds
}

// registry adds the registry of the units and the manifest of the CUDA kernels.
func (p *Project) registry(e *Emission) (ds diag.List) {
	r := emitgo.Registry{Home: p.conf.home()}
	if len(p.conf.Library) > 0 {
		r.Extends = libraryHome.Import(emitgo.RegistryFolder(libraryHome))
	}
	var kernels []emitcuda.File
	var traffic []string
	for _, c := range e.codes {
		switch {
		case c == nil:
			continue
		case c.Named != nil:
			r.Instances = append(r.Instances, *c.Named)
		case c.Entry:
			r.Packages = append(r.Packages, c.Package)
		}
		kernels = append(kernels, c.Kernels...)
		traffic = append(traffic, c.Traffic...)
	}
	if p.conf.CUDA != NoCUDA {
		r.Archive = emitcuda.Archive(kernels)
		for _, k := range kernels {
			r.References = append(r.References, k.Reference)
		}
	}
	maps.Copy(e.Files, r.File())
	e.Files[emitgo.RegistryFolder(p.conf.home())+"/traffic.txt"] = trafficTable(traffic)
	if dir := p.conf.CUDAFolder(); dir != "" {
		plainText(e.Files, dir, kernels)
		if len(p.conf.Library) > 0 { // what the text includes is beside it
			name, text := emitcuda.Include()
			e.Files[dir+"/"+name] = text
		}
	}
	return ds
}

// Assembly gives kernels their fused arithmetic and prints what of it is assembly.
func Assembly(list []plan.KernelFile, to emitasm.Package) tree.Files {
	eachKernel(list, func(k *plan.Kernel) { k.Fused = fuse.Kernel(k) })
	return emitasm.Files(list, to)
}

// underRoot is a page's path under the root, whatever the working directory.
func underRoot(root, path string) string {
	rel, err := filepath.Rel(root, filepath.FromSlash(path))
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// Generate proves and compiles the pages and makes the owned folders hold
// exactly what they say. Nothing is written when there is an error, but what an
// interrupted run left is finished or undone.
func Generate(c Config) (tree.Report, diag.List, error) {
	files, ds := wanted(c)
	if ds.HasErrors() {
		rec, err := tree.Recover(c.Root)
		return tree.Report{Recovery: rec}, ds, err
	}
	var r tree.Report
	var err error
	c.Stats.measure("write", func() { r, err = tree.Apply(c.Root, c.owned(), files) })
	return r, ds, err
}

// Check proves and compiles the pages and compares the owned folders with what they
// say.
func Check(c Config) (tree.Drift, diag.List, error) {
	files, ds := wanted(c)
	if ds.HasErrors() {
		return tree.Drift{}, ds, nil
	}
	var d tree.Drift
	var err error
	c.Stats.measure("compare", func() { d, err = tree.Check(c.Root, c.owned(), files) })
	return d, ds, err
}

// wanted are the files that the pages make. Those of the last run count if every byte
// of every page is as it was then.
func wanted(c Config) (tree.Files, diag.List) {
	const id, stage = "(all)", "files"
	m, from := cache.Open(c.Cache, c.Root), c.inputs()
	var files tree.Files
	if _, ok := m.Get(id, stage, from, &files); ok {
		return files, diag.List{}
	}
	p, ds := Open(c)
	if ds.HasErrors() {
		return nil, ds
	}
	if rd := p.References(c.Root); rd.HasErrors() {
		return nil, rd
	}
	e, ed := p.emit(true)
	if ds.Append(ed); ds.HasErrors() {
		return nil, ds
	}
	// Warnings are printed every time; a page that changed meanwhile is not the page
	// that was compiled.
	if ds.Len() == 0 && cache.Changed(from, c.inputs()) == "" {
		m.Put(id, stage, from, e.Files)
	}
	kept := map[string]bool{"(all)": true}
	for _, j := range p.jobs {
		kept[units.ID(j.unit)] = true
	}
	m.Prune(kept)
	return e.Files, ds
}

// inputs are all bytes that the files are made from.
func (c Config) inputs() []cache.Input {
	from := []cache.Input{cache.Compiler(), cache.NewInput("the folders of the project", c.home(), c.CUDAFolder(), c.CUDA, c.Specs)}
	var library []any
	for _, f := range c.Library {
		library = append(library, f.Path, f.Text)
	}
	from = append(from, cache.NewInput("the library", library...))
	files, errs := readPages(c.Specs)
	if len(errs) > 0 {
		return append(from, cache.NewInput("what cannot be read", errors.Join(errs...)))
	}
	for _, f := range files {
		from = append(from, cache.NewInput("page "+underRoot(c.Root, f.Path), f.Text))
	}
	return from
}
