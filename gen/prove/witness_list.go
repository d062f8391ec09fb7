package prove

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// ReadWitnesses reads a list of witnesses; # opens a comment.
func ReadWitnesses(r io.Reader) ([]*Witness, error) {
	var out []*Witness
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		text, _, _ := strings.Cut(sc.Text(), "#")
		if strings.TrimSpace(text) == "" {
			continue
		}
		w, err := parseWitness(text)
		if err != nil {
			return nil, fmt.Errorf("witness list, line %d: %w", n, err)
		}
		w.Line = n
		out = append(out, w)
	}
	return out, sc.Err()
}

func parseWitness(text string) (*Witness, error) {
	head, rest, ok := strings.Cut(text, " : ")
	words := strings.Fields(head)
	in, results, ok2 := strings.Cut(rest, ">")
	if !ok || !ok2 || len(words) != 4 {
		return nil, fmt.Errorf("want UNIT PROGRAM FILE PREFIX : … > …")
	}
	w := &Witness{Unit: words[0], Program: words[1], File: words[2], Prefix: strings.TrimSuffix(words[3], "-"),
		In: map[string]string{}, Sizes: map[string]string{}, Options: map[string]string{}}
	for _, f := range strings.Fields(in) {
		if k, v, ok := strings.Cut(f, "::="); ok {
			w.Options[k] = v
		} else if k, v, ok := strings.Cut(f, ":="); ok && k == "STRIP" {
			w.Strip = v
		} else if ok {
			w.Sizes[k] = v
		} else if k, v, ok := strings.Cut(f, "="); ok {
			w.In[k] = v
		} else {
			return nil, fmt.Errorf("%q is no assignment", f)
		}
	}
	for _, f := range strings.Fields(results) {
		k, v, ok := strings.Cut(f, "=")
		if !ok {
			return nil, fmt.Errorf("%q is no assignment", f)
		}
		t, weight, _ := strings.Cut(v, "*")
		w.Out = append(w.Out, WitnessResult{k, t, weight})
	}
	return w, nil
}

// program builds the program that the witness is about.
func (w *Witness) program(tree *check.Tree, vectors Vectors) (*ir.Func, error) {
	f, err := w.formula(tree)
	if err != nil {
		return nil, err
	}
	var with []*notation.Override
	for _, k := range slices.Sorted(maps.Keys(w.Options)) {
		o := &notation.Override{Name: notation.Word{Text: k}}
		if word, ok := strings.CutPrefix(w.Options[k], "'"); ok {
			o.Value = &notation.Ident{Name: notation.Word{Text: word}}
		} else {
			_, x, err := (&holder{w: w, vectors: vectors}).tensor(w.Options[k])
			if err != nil {
				return nil, fmt.Errorf("option %s: %w", k, err)
			}
			o.Value = &notation.Number{Value: x[0]}
		}
		with = append(with, o)
	}
	blk, ds := check.InstantiateFormula(tree, w.Unit, f, with)
	if blk == nil || ds.HasErrors() {
		return nil, fmt.Errorf("%s: %s", w.Unit, ds.Error())
	}
	g := build(blk, w.Program, &ds)
	if g == nil || ds.HasErrors() {
		return nil, fmt.Errorf("%s: %s", w.Unit, ds.Error())
	}
	return g, nil
}

// Pages are the pages that the witness is about: a unit, or the knobs and the
// front of a rule that no page names. A break of one of them can change what is
// compared.
func (w *Witness) Pages() []string {
	knobs, front, over := strings.Cut(w.Unit, "/")
	out := strings.Split(knobs, "+")
	if over {
		out = append(out, front)
	}
	return out
}

// formula is what the witness is about: a unit, or the knobs of a rule that no
// page names, joined by + and with the front behind a slash.
func (w *Witness) formula(tree *check.Tree) (*notation.Formula, error) {
	apply := func(name string) (*notation.Apply, error) {
		if tree.Units[name] == nil {
			return nil, fmt.Errorf("there is no unit %s", name)
		}
		return &notation.Apply{Name: notation.Word{Text: name}}, nil
	}
	f := &notation.Formula{}
	knobs, front, over := strings.Cut(w.Unit, "/")
	for k := range strings.SplitSeq(knobs, "+") {
		a, err := apply(k)
		if err != nil {
			return nil, err
		}
		f.Parts = append(f.Parts, a)
	}
	if over {
		a, err := apply(front)
		if err != nil {
			return nil, err
		}
		f.Over = a
	}
	return f, nil
}

// build makes one of a block's programs: whole, frozen, start, update or
// gradient, its first inner gradient.
func build(blk *check.Block, program string, ds *diag.List) *ir.Func {
	switch program {
	case "op":
		return irbuild.Op(blk, ds)
	case "whole":
		return irbuild.Whole(blk, ds)
	case "frozen":
		return irbuild.Frozen(blk, ds)
	case "start":
		return irbuild.Start(blk, ds)
	case "update":
		return irbuild.Update(blk, ds)
	case "function":
		return irbuild.Function(blk, ds)
	}
	if k, ok := strings.CutPrefix(program, "gradient"); ok {
		i, _ := strconv.Atoi(k)
		if gs := irbuild.Gradients(blk, ds); i < len(gs) {
			return gs[i].Func
		}
	}
	return nil
}
