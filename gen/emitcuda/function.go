package emitcuda

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/clike"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A function is what one launch, or some of its blocks, does, while it is printed. What
// the body mentions, sizes and buffers, becomes parameters.
type function struct {
	*clike.Printer
	clike.Lines
	e       *emitter
	launch  *Launch
	threads int // of a block
	mark    int

	vars   map[*plan.Var]string
	locals map[*plan.Local]string
	taken  map[string]bool           // sizes that are mentioned
	uses   map[string]bool           // buffers that are mentioned, by their C++ names
	writes map[string]bool           // those of them that are written
	ceils  map[string]string         // locals of sizes that are quotients
	own    map[*plan.Buffer]string   // pointers of the block to its part of a buffer
	fixed  map[*plan.Loop]bool       // loops whose variable the thread already has
	moved  map[*plan.Loop]plan.Index // loops whose variable follows from others
	shared []sharedArray
	kept   []string // names of the whole function

	zeros   *plan.Buffer // that it clears, if it does nothing else
	narrows bool         // it copies an operand
	mapping []string     // of iterations to threads, in words
	text    string       // when it has ended

	private map[*plan.Buffer]*allocation
	tiles   map[*plan.Store]*tile
	sums    map[*plan.Store]string // registers of what stores add to
	live    string                 // condition under which a thread writes entries of its row, or ""
	warps   string                 // the shared array of sums over the block

	read, wrote map[*plan.Buffer]bool // by any thread of the block since the last barrier
}

// A sharedArray is an array in shared memory, or where it does not fit in workspace.
type sharedArray struct {
	name    string
	elem    ir.Elem
	n       shape.Poly
	scratch string // the workspace, "" for an array that always fits
	part    string // the block's own part of it
	note    string
}

// newFunction begins a function.
func (e *emitter) newFunction(threads int) *function {
	return e.newText(&Launch{Threads: threads}, threads)
}

// newText is a function without text.
func (e *emitter) newText(l *Launch, threads int) *function {
	f := &function{e: e, launch: l, threads: threads, mark: e.scope.Mark(),
		vars: map[*plan.Var]string{}, locals: map[*plan.Local]string{}, taken: map[string]bool{}, uses: map[string]bool{}, writes: map[string]bool{},
		ceils: map[string]string{}, own: map[*plan.Buffer]string{}, fixed: map[*plan.Loop]bool{}, moved: map[*plan.Loop]plan.Index{},
		private: map[*plan.Buffer]*allocation{}, tiles: map[*plan.Store]*tile{}, sums: map[*plan.Store]string{},
		read: map[*plan.Buffer]bool{}, wrote: map[*plan.Buffer]bool{}}
	f.Indent = 1
	f.Printer = &clike.Printer{Language: language, Size: f.size, Var: f.variable, Local: f.local, Entry: f.entry, Wide: f.wide}
	return f
}

func (f *function) block(head string, body func()) { f.Block(f.e.scope, head, body) }

// size prints a size.
func (f *function) size(s string) string {
	f.taken[s] = true
	if q := f.e.ceil(s); q != nil && !f.e.constant(shape.Sym(s)) {
		if f.ceils[s] == "" {
			f.ceils[s] = f.e.sizes[s]
			for _, t := range slices.Concat(q.Num.Symbols(), q.Den.Symbols()) {
				f.size(t)
			}
		}
	}
	if n := f.e.sizes[s]; n != "" {
		return n
	}
	panic(fmt.Sprintf("emitcuda: BUG: size %s of %s is not known", s, f.e.k.Name))
}

// buffer prints the pointer or array that holds a buffer's entries.
func (f *function) buffer(b *plan.Buffer) string {
	b = b.Base()
	if p := f.private[b]; p != nil {
		return p.name
	}
	if n := f.own[b]; n != "" {
		return n
	}
	n := f.e.bufs[b]
	if n == "" {
		panic(fmt.Sprintf("emitcuda: BUG: buffer %s of %s has no name", b.Name, f.e.k.Name))
	}
	f.uses[n] = true
	return n
}

// scratch makes a workspace buffer of the text's own and prints its name.
func (f *function) scratch(name string, elem ir.Elem, n shape.Poly) string {
	w := f.e.addWork(name, elem, n)
	f.uses[w], f.writes[w] = true, true
	return w
}

// local prints a scalar; one of the kernel's own level is computed again or
// was kept by an earlier launch.
func (f *function) local(l *plan.Local) string {
	if n, ok := f.locals[l]; ok {
		return n
	}
	panic(fmt.Sprintf("emitcuda: BUG: scalar %s of %s is not in scope", l.Name, f.e.k.Name))
}

// array makes a small array in shared memory, of numbers.
func (f *function) array(name string, n int) string {
	name = f.name(name)
	f.shared = append(f.shared, sharedArray{name: name, elem: ir.Real, n: shape.Int(int64(n))})
	return name
}

// name returns a name of the whole function.
func (f *function) name(name string) string {
	name = f.e.scope.Keep(name)
	f.kept = append(f.kept, name)
	return name
}

// finish ends the function and adds it to those of the kernel.
func (f *function) finish(eqs []string, mapping []string, grid ...Factor) {
	f.end(eqs, mapping, grid...)
	f.e.functions = append(f.e.functions, f)
}

// end ends the function.
func (f *function) end(eqs []string, mapping []string, grid ...Factor) {
	f.e.scope.Release(f.mark)
	f.e.scope.Drop(f.kept)
	f.launch.Equations, f.launch.Grid, f.mapping = eqs, []Grid{grid}, mapping
	head := f.e.newText(f.launch, f.threads)
	head.taken, head.ceils = f.taken, f.ceils
	head.quotients()
	f.text = head.String() + f.String()
}

// quotients prints the sizes that are quotients of open ones.
func (f *function) quotients() {
	for _, q := range f.e.ceils {
		if f.ceils[q.Name] != "" {
			f.Line("const int %s = (%s) / %s;", f.ceils[q.Name], f.Poly(q.Num.Add(q.Den).Sub(shape.Int(1))), f.Atom(q.Den))
		}
	}
}

// params lists the parameters: buffers in the order of the kernel, then sizes.
func (f *function) params() []string {
	var out []string
	for i := range f.e.text.Buffers {
		b := &f.e.text.Buffers[i]
		if !f.uses[b.Name] {
			continue
		}
		typ := b.typeName()
		if !f.writes[b.Name] {
			typ = "const " + typ
		}
		out = append(out, typ+" *"+b.Name)
		f.launch.Args = append(f.launch.Args, Arg{Name: b.Name})
	}
	for _, s := range f.e.k.Sizes {
		if _, constant := f.e.defaults[s]; f.taken[s] && !constant {
			out = append(out, "int "+f.e.sizes[s])
			f.launch.Args = append(f.launch.Args, Arg{Name: f.e.sizes[s], Size: s})
		}
	}
	return out
}

// signature prints the head of a function, its parameters in lines.
func signature(head string, params []string) string {
	const width = 100
	line, out := head, ""
	for i, p := range params {
		if i+1 < len(params) {
			p += ","
		}
		switch {
		case line == head:
			line += p
		case len(line)+1+len(p) > width:
			out += line + "\n"
			line = "    " + p
		default:
			line += " " + p
		}
	}
	return out + line + ") {\n"
}

// target is buffer, of one that is written.
func (f *function) target(b *plan.Buffer) string {
	n := f.buffer(b)
	f.writes[n] = true
	return n
}

// sharedMemory prints the arrays.
func (f *function) sharedMemory(arrays []sharedArray) {
	last := ""
	for _, a := range arrays {
		typ := language.Types[a.elem]
		switch {
		case a.scratch == "":
			f.Line("HECATE_SHARED(%s, %s, %s);", typ, a.name, f.Poly(a.n))
			continue
		case last == "":
			f.Line("HECATE_ARRAY(%s, %s, %s, %s);%s", typ, a.name, f.Poly(a.n), a.part, behind(a.note))
		default:
			f.Line("HECATE_ARRAY_AFTER(%s, %s, %s, %s, %s);%s", last, typ, a.name, f.Poly(a.n), a.part, behind(a.note))
		}
		last = a.name
	}
}

func behind(note string) string {
	if note == "" {
		return ""
	}
	return "  // " + note
}

// comment wraps a sentence.
func comment(s string) string {
	const width = 100
	var b strings.Builder
	line := "//"
	for _, w := range strings.Fields(s) {
		if len(line)+1+len(w) > width && line != "//" {
			b.WriteString(line + "\n")
			line = "//"
		}
		line += " " + w
	}
	return b.String() + line + "\n"
}
