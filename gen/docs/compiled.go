package docs

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/emitcuda"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// emitted adds the results of the compiler for a unit.
func (d *collector) emitted(e *Entry, u *abi.Unit) {
	b, _ := check.Instantiate(d.src.Tree, d.src.Tree.Units[u.Name]) // as Compile did
	d.equations(e, u, b)
	letters := map[string]string{} // the names on the page by their ASCII names in code
	for _, s := range b.SymSeq {
		letters[ident.ASCII(s.Name)] = s.Name
	}
	called := func(name string) string {
		if l := letters[name]; l != "" {
			return l
		}
		return name
	}
	for _, z := range u.Sizes {
		row := Size{Name: z.Name}
		switch {
		case !z.Free:
			row.Default = strings.Join(z.Product, " × ")
		case z.Default >= 0:
			row.Default = fmt.Sprint(z.Default)
		default:
			row.Default = "must be given"
		}
		e.Sizes = append(e.Sizes, row)
	}
	for _, w := range u.Weights {
		var notes []string
		if w.Fixed {
			notes = append(notes, "no gradient")
		} else if w.NoDecay {
			notes = append(notes, "no decay")
		}
		e.Params = append(e.Params, Param{Math: called(w.Name), Shape: dimsText(w.Dims), Start: startText(w.Init), Notes: strings.Join(notes, ", ")})
	}
	for _, st := range u.States {
		first := "zero"
		if st.Starts {
			first = "learned"
		}
		e.States = append(e.States, State{Math: called(st.Name), Shape: dimsText(st.Dims), Start: first})
	}
	e.Cuts = u.Cut
	d.kernels(e, u)
}

// equations lists the equations that are computed. A line of the law is written out,
// followed by the functions of the knobs that it calls.
func (d *collector) equations(e *Entry, u *abi.Unit, b *check.Block) {
	written := map[string]string{}
	for _, q := range b.AllEquations() {
		if q.Def != nil && q.Unit != nil && q.Unit.Kind == notation.LawUnit {
			written[q.ID] = notation.Print(q.Def, notation.Unicode)
		}
	}
	for _, q := range u.Equations {
		text := q.Text
		if w := written[q.ID]; w != "" {
			text = w
		}
		e.Equations = append(e.Equations, Equation{ID: q.ID, Math: oneLine(cites.ReplaceAllString(text, "")), Cite: q.Cite})
	}
	if len(written) == 0 {
		return
	}
	uncalled := b.Uncalled()
	for _, n := range slices.Sorted(maps.Keys(b.Funcs)) {
		if f := b.Funcs[n]; f.Block != nil && !slices.Contains(uncalled, f) {
			e.Equations = append(e.Equations, Equation{Math: oneLine(notation.Print(f.Def, notation.Unicode))})
		}
	}
}

// kernels lists the kernels of a unit and of the functions that it calls, with the
// memory that they need.
func (d *collector) kernels(e *Entry, u *abi.Unit) {
	e.Folder, _ = emitgo.Package(u)
	d.kernelsOf(e, u, "")
	for _, f := range u.Functions() {
		folder, _ := emitgo.Package(f)
		d.kernelsOf(e, f, strings.Repeat("../", strings.Count(strings.TrimPrefix(e.Folder, u.Home.Folder), "/"))+strings.TrimPrefix(folder, u.Home.Folder+"/")+"/")
	}
}

// kernelsOf lists the kernels of a unit whose files are in a folder.
func (d *collector) kernelsOf(e *Entry, u *abi.Unit, folder string) {
	for _, st := range u.Stages {
		for _, p := range []struct {
			pair abi.Pair
			file string
			does [2]string
		}{{st.Pair, st.Name, [2]string{"forward", "backward"}}, {st.Frozen, "read", [2]string{"frozen read", "its backward"}}, {st.Start, "start", [2]string{"first states", "their backward"}}} {
			for i, k := range []*plan.Kernel{p.pair.Fwd, p.pair.Bwd} {
				if k == nil {
					continue
				}
				file := strings.ToLower(p.file) + ".go"
				if u.Kind == abi.OpUnit {
					file = u.ID + ".go"
				} else if u.Kind == abi.UpdateUnit {
					_, pkg := emitgo.Package(u)
					file = pkg + ".go"
				}
				e.Kernels = append(e.Kernels, Kernel{Name: k.Name, Does: p.does[i], Go: folder + file, CUDA: d.kernelText(u, k)})
				if m := k.Memory; !m.Saved.IsZero() || !m.Checkpoints.IsZero() || !m.Workspace.IsZero() {
					e.Memory = append(e.Memory, Memory{Kernel: k.Name, Saved: m.Saved.String(), Checkpoints: m.Checkpoints.String(), Workspace: m.Workspace.String()})
				}
			}
		}
	}
}

// kernelText is the path of a kernel's CUDA text under the root, "" without that target.
func (d *collector) kernelText(u *abi.Unit, k *plan.Kernel) string {
	if d.cuda == "" {
		return ""
	}
	return d.cuda + "/" + emitcuda.Path(u, k)
}

func dimsText(dims []shape.Poly) string {
	var out []string
	for _, p := range dims {
		out = append(out, p.String())
	}
	if len(out) == 0 {
		return "number"
	}
	return strings.Join(out, " × ")
}

// startText prints the initial value of a parameter.
func startText(i abi.Init) string {
	switch i.Kind {
	case abi.Levels:
		var out []string
		for _, x := range i.Levels {
			out = append(out, fmt.Sprint(x))
		}
		return "by level " + strings.ReplaceAll(strings.Join(out, ", "), "-", "−")
	case abi.Uniform:
		return "uniform(" + sizeText(i.A) + ", " + sizeText(i.B) + ")"
	case abi.Normal:
		return "normal(" + sizeText(i.A) + ", " + sizeText(i.B) + ")"
	}
	return sizeText(i.A)
}

// sizeText prints a number that depends on sizes.
func sizeText(x abi.SizeExpr) string {
	arg := func(i int) string {
		s := sizeText(x.Args[i])
		if strings.ContainsAny(s, " ") && !strings.HasSuffix(s, ")") {
			return "(" + s + ")"
		}
		return s
	}
	switch x.Op {
	case "", "num":
		if math.IsInf(x.Num, 0) {
			return "∞"
		}
		return strings.Replace(fmt.Sprint(x.Num), "-", "−", 1)
	case "size":
		return x.Size.String()
	case "neg":
		return "−" + arg(0)
	case "sqrt":
		return "sqrt(" + sizeText(x.Args[0]) + ")"
	}
	sign := map[string]string{"add": " + ", "sub": " − ", "mul": " ", "div": "/"}[x.Op]
	return arg(0) + sign + arg(1)
}
