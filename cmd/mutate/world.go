package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/markdown"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/notation/parser"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/prove/mutation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/witness"
	"github.com/nl-hecate/hecate/gen/simplify"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
	"github.com/nl-hecate/hecate/gen/units"
	"github.com/nl-hecate/hecate/internal/vectors"
)

// A world is the pages as they are, with everything that a broken page is
// compared with.
type world struct {
	pages     []*spec.Page
	files     []*notation.File
	known     map[string]bool
	tree      *units.Tree
	readers   map[string][]string // unit → units that use it, itself first, near ones first
	hashes    map[string]string   // unit/program → normal form
	witnesses map[string][]*witness.Witness
	vectors   map[string]*vectors.File
}

func newWorld(specs, dir, list string) (*world, error) {
	w := &world{known: map[string]bool{}, hashes: map[string]string{}, witnesses: map[string][]*witness.Witness{}, vectors: map[string]*vectors.File{}}
	if err := w.load(specs); err != nil {
		return nil, err
	}
	if err := w.loadWitnesses(dir, list); err != nil {
		return nil, err
	}
	w.readers = readers(w.tree)
	return w, nil
}

// sound reports whether some units are proved and agree with their witnesses
// as they are, and keeps the normal forms of their programs.
func (w *world) sound(units []string, workers int) error {
	hashes := make([]map[string]string, len(units))
	errs := make([]error, len(units))
	spread(len(units), workers, func(i int) { hashes[i], errs[i] = w.soundUnit(units[i]) })
	for _, h := range hashes {
		maps.Copy(w.hashes, h)
	}
	return errors.Join(errs...)
}

func (w *world) soundUnit(name string) (map[string]string, error) {
	u := w.tree.Units[name]
	if _, ds := prove.Block(w.tree, u, proof.Options{Facts: true}); ds.HasErrors() {
		return nil, fmt.Errorf("the pages must be clean before they are broken:\n%s", ds.Error())
	}
	for _, x := range w.witnesses[name] {
		if text := w.witnessed(w.tree, x); text != "" {
			return nil, fmt.Errorf("%s differs from the witness before it is broken: %s", x.Unit, text)
		}
	}
	return w.hashesOf(w.tree, u), nil
}

// spread does n pieces of work with some workers.
func spread(n, workers int, do func(int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for k := range next {
				do(k)
			}
		})
	}
	for k := range n {
		next <- k
	}
	close(next)
	wg.Wait()
}

// load reads the pages that have units.
func (w *world) load(specs string) error {
	var names []string
	err := filepath.WalkDir(specs, func(p string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(p, ".md") {
			names = append(names, p)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("read pages: %w", err)
	}
	slices.Sort(names)
	for _, n := range names {
		text, err := os.ReadFile(n)
		if err != nil {
			return fmt.Errorf("read pages: %w", err)
		}
		p, _ := markdown.Parse(source.NewFile(filepath.ToSlash(n), string(text)))
		if !p.Ours() || !p.Emits() {
			continue
		}
		w.pages = append(w.pages, p)
		for k := range parser.Known(inputs(p, nil)) {
			w.known[k] = true
		}
	}
	for _, p := range w.pages {
		f, ds := parser.Parse(p.File, inputs(p, w.known))
		if ds.HasErrors() {
			return fmt.Errorf("the pages must be clean:\n%s", ds.Error())
		}
		w.files = append(w.files, f)
	}
	tree, ds := units.Collect(w.files)
	if ds.HasErrors() {
		return fmt.Errorf("the pages must be clean:\n%s", ds.Error())
	}
	w.tree = tree
	return nil
}

func inputs(p *spec.Page, known map[string]bool) []parser.Input {
	var out []parser.Input
	for _, b := range p.Blocks {
		if b.IsHecate {
			out = append(out, parser.Input{Text: b.Text, Offset: b.FileOffset, File: p.File, Example: b.IsExample, Known: known})
		}
	}
	return out
}

// broken is the tree with one page in another form.
func (w *world) broken(i int, text string) (*units.Tree, *spec.Page, diag.List) {
	p, ds := markdown.Parse(source.NewFile(w.pages[i].File.Path, text))
	f, nd := parser.Parse(p.File, inputs(p, w.known))
	ds.Append(nd)
	files := slices.Clone(w.files)
	files[i] = f
	tree, td := units.Collect(files)
	ds.Append(td)
	return tree, p, ds
}

// hashesOf are the normal forms of a unit's programs.
func (w *world) hashesOf(tree *units.Tree, u *notation.Unit) map[string]string {
	out := map[string]string{}
	ps, _ := programs(tree, u.Name.Text)
	for _, p := range ps {
		out[u.Name.Text+"/"+p.Name] = simplify.Hash(p.Func)
	}
	return out
}

// programs are the programs of a unit; ok is false where it has an error.
func programs(tree *units.Tree, name string) (ps []mutation.Program, ok bool) {
	u := tree.Units[name]
	if u == nil {
		return nil, false
	}
	blk, ds := proof.Resolve(tree, u)
	if blk == nil {
		return nil, !ds.HasErrors()
	}
	if !ds.HasErrors() {
		ps = mutation.Programs(blk, &ds)
	}
	return ps, !ds.HasErrors()
}

func (w *world) loadWitnesses(dir, list string) error {
	f, err := os.Open(list)
	if err != nil {
		return fmt.Errorf("read witnesses: %w", err)
	}
	defer f.Close()
	all, err := witness.ReadList(f)
	if err != nil {
		return err
	}
	for _, x := range all {
		about := x.Pages()
		if len(about) > 1 {
			for _, law := range w.tree.Kinds(notation.LawUnit) {
				about = append(about, law.Name.Text)
			}
		}
		for _, page := range about {
			w.witnesses[page] = append(w.witnesses[page], x)
		}
		if w.vectors[x.File] != nil {
			continue
		}
		r, err := os.Open(filepath.Join(dir, x.File))
		if err != nil { // numbers computed by hand lie beside the list
			r, err = os.Open(filepath.Join(filepath.Dir(list), x.File))
		}
		if err != nil {
			return fmt.Errorf("read witnesses: %w", err)
		}
		w.vectors[x.File], err = vectors.Read(r)
		r.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// witnessTol is how far a unit may be from numbers that were computed by
// another implementation in float64.
const witnessTol = 1e-12

// witnessed says how a unit differs from a witness, or "".
func (w *world) witnessed(tree *units.Tree, x *witness.Witness) string {
	_, worst, err := x.Hold(tree, func(name string) ([]int, []float64, bool) { return lookup(w.vectors[x.File], name) })
	switch {
	case err != nil:
		return err.Error()
	case !(worst.Err <= max(witnessTol, x.Tol)):
		return worst.String()
	}
	return ""
}

func lookup(f *vectors.File, name string) ([]int, []float64, bool) {
	t, ok := f.Lookup(name)
	if !ok {
		return nil, nil, false
	}
	if t.Kind != vectors.Int {
		return t.Shape, t.Floats, true
	}
	data := make([]float64, len(t.Ints))
	for i, n := range t.Ints {
		data[i] = float64(n)
	}
	return t.Shape, data, true
}

// readers lists for every unit the units that a change of it can reach: by
// name, by call, and through the law, which every formula of knobs uses.
func readers(tree *units.Tree) map[string][]string {
	uses := map[string][]string{}
	note := func(of, by string) {
		if of != by && tree.Units[of] != nil && !slices.Contains(uses[of], by) {
			uses[of] = append(uses[of], by)
		}
	}
	for _, u := range tree.Order {
		notation.Inspect(u, func(n any) bool {
			switch n := n.(type) {
			case *notation.Apply:
				note(n.Name.Text, u.Name.Text)
			case *notation.Call:
				note(n.Fun.Text, u.Name.Text)
			case *notation.Formula:
				if len(n.Parts) > 1 {
					for _, law := range tree.Kinds(notation.LawUnit) {
						note(law.Name.Text, u.Name.Text)
					}
				}
			}
			return true
		})
	}
	out := map[string][]string{}
	for _, u := range tree.Order {
		all := []string{u.Name.Text}
		for i := 0; i < len(all); i++ {
			for _, by := range uses[all[i]] {
				if !slices.Contains(all, by) {
					all = append(all, by)
				}
			}
		}
		out[u.Name.Text] = all
	}
	return out
}
