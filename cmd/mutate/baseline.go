package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/nl-hecate/hecate/gen"
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
	"github.com/nl-hecate/hecate/internal/parallel"
	"github.com/nl-hecate/hecate/internal/vectors"
)

// A baseline is the unchanged pages, with everything that a mutant is compared with.
type baseline struct {
	pages     []*spec.Page
	files     []*notation.File
	known     map[string]bool
	tree      *units.Tree
	readers   map[string][]string // the units that a change of a unit reaches: itself, then its users, nearest first
	hashes    map[string]string   // of the normal forms, by unit/program
	witnesses map[string][]*witness.Witness
	vectors   map[string]*vectors.File
}

func newBaseline(specs, dir, list string) (*baseline, error) {
	w := &baseline{known: map[string]bool{}, hashes: map[string]string{}, witnesses: map[string][]*witness.Witness{}, vectors: map[string]*vectors.File{}}
	if err := w.load(specs); err != nil {
		return nil, err
	}
	if err := w.loadWitnesses(dir, list); err != nil {
		return nil, err
	}
	w.readers = readers(w.tree)
	return w, nil
}

// verify wants units without mutants to be proved and to agree with their witnesses, and
// keeps the normal forms of their programs.
func (w *baseline) verify(units []string, workers int) error {
	hashes := make([]map[string]string, len(units))
	errs := make([]error, len(units))
	parallel.Each(len(units), workers, func(i int) { hashes[i], errs[i] = w.verifyUnit(units[i]) })
	for _, h := range hashes {
		maps.Copy(w.hashes, h)
	}
	return errors.Join(errs...)
}

func (w *baseline) verifyUnit(name string) (map[string]string, error) {
	u := w.tree.Units[name]
	if _, ds := prove.Block(w.tree, u, proof.Options{Facts: true}); ds.HasErrors() {
		return nil, fmt.Errorf("the pages must have no errors before they are changed:\n%s", ds.Error())
	}
	for _, x := range w.witnesses[name] {
		if text := w.witnessDifference(w.tree, x); text != "" {
			return nil, fmt.Errorf("%s differs from the witness before it is changed: %s", x.Unit, text)
		}
	}
	return w.hashesOf(w.tree, u), nil
}

// load reads the pages that have units.
func (w *baseline) load(specs string) error {
	s, ds := gen.Load(specs)
	if ds.HasErrors() {
		return fmt.Errorf("the pages must have no errors before they are changed:\n%s", ds.Error())
	}
	for i, p := range s.Pages {
		if p.Emits() {
			w.pages, w.files = append(w.pages, p), append(w.files, s.Files[i])
			maps.Copy(w.known, parser.Known(inputs(p, nil)))
		}
	}
	w.tree = s.Tree
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

// mutated is the tree with another text of one page.
func (w *baseline) mutated(i int, text string) (*units.Tree, *spec.Page, diag.List) {
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
func (w *baseline) hashesOf(tree *units.Tree, u *notation.Unit) map[string]string {
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

func (w *baseline) loadWitnesses(dir, list string) error {
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
		if err != nil { // numbers computed by hand are beside the list
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

// witnessTol bounds the difference of a unit from numbers that another implementation
// computed in float64.
const witnessTol = 1e-12

// witnessDifference describes how a unit differs from a witness; "" where it agrees.
func (w *baseline) witnessDifference(tree *units.Tree, x *witness.Witness) string {
	_, worst, err := x.Compare(tree, func(name string) ([]int, []float64, bool) { return lookup(w.vectors[x.File], name) })
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
