package cuda

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// A Library holds the text of kernels with what the manifest says of each: buffers, launches,
// and the formulas of their lengths and shapes. The compiler writes it as an archive, a tar
// file with gzip: the header that all texts include, and for each kernel a text UNIT/NAME.cu
// and its row of the manifest, UNIT/NAME.json.
type Library struct {
	header  string
	kernels map[string]*Kernel
	names   []string
	images  []*Images
}

// vectorKernel is what is done with vectors between the kernels of the pages. Every library has it.
var vectorKernel = &Kernel{Name: "runtime/vector", Text: vectorText}

//go:embed text/vector.cu
var vectorText string

// header is the name of what all texts include.
const headerName = "hecate.cuh"

// OpenLibrary reads archives. A kernel of a later one takes the place of an earlier one's.
func OpenLibrary(archives ...[]byte) (*Library, error) {
	l := &Library{kernels: map[string]*Kernel{}}
	for _, a := range archives {
		if err := l.read(a); err != nil {
			return nil, fmt.Errorf("cuda: the archive of kernels is damaged: %w", err)
		}
	}
	l.names = slices.DeleteFunc(l.names, func(n string) bool { return l.kernels[n].row == nil })
	slices.Sort(l.names)
	return l, nil
}

func (l *Library) read(archive []byte) error {
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		name, ending, _ := strings.Cut(h.Name, ".")
		switch {
		case h.Name == headerName:
			l.header = string(text)
		case ending == "cu":
			l.kernel(name).Text = string(text)
		case ending == "json":
			l.kernel(name).row = text
		}
	}
}

func (l *Library) kernel(name string) *Kernel {
	k := l.kernels[name]
	if k == nil {
		k = &Kernel{Name: name}
		k.parsed = sync.OnceValue(k.parse)
		l.kernels[name] = k
		l.names = append(l.names, name)
	}
	return k
}

// Use adds images. Those that are added first are asked first.
func (l *Library) Use(images ...*Images) { l.images = append(l.images, images...) }

// Variants are those that the images have, sorted.
func (l *Library) Variants() (out []Variant) {
	for _, m := range l.images {
		out = append(out, m.Variants()...)
	}
	slices.SortFunc(out, CompareVariants)
	return slices.Compact(out)
}

// Chosen is the image of a variant that a device takes, and why: the first that fits. The result is nil
// where none does; Why is then that of the images that were added last.
func (l *Library) Chosen(v Variant, i Info) (from *Images, c Choice) {
	k, err := l.Kernel(v.Kernel)
	if err != nil {
		return nil, Choice{Why: err.Error()}
	}
	c.Why = "this program has no images"
	for _, m := range l.images {
		if c = m.choose(v, digest(k.Text, l.header), i); c.Target != "" {
			return m, c
		}
	}
	return nil, c
}

// Names are the names of all kernels, UNIT/NAME, sorted.
func (l *Library) Names() []string { return l.names }

// Kernel is the kernel of a name. The error names it where there is none.
func (l *Library) Kernel(name string) (*Kernel, error) {
	if name == vectorKernel.Name {
		return vectorKernel, nil
	}
	k := l.kernels[name]
	if k == nil || k.row == nil || k.Text == "" {
		return nil, fmt.Errorf("cuda: this program has no kernel %s", name)
	}
	if err := k.parsed(); err != nil {
		return nil, fmt.Errorf("cuda: the row of kernel %s is damaged: %w", name, err)
	}
	return k, nil
}

// A Kernel is a kernel of a library.
type Kernel struct {
	Name      string // UNIT/NAME
	Unit      string
	Page      string
	Text      string
	Defaults  map[string]int // sizes of the model that the text has as constants, with the values that it has by itself
	Open      []string       // sizes that are arguments
	Sizes     []string       // all of them, in the order of the plan
	Buffers   []Buffer
	Functions []FunctionInfo

	row       []byte
	parsed    func() error // parses the row, once
	quotients []quotient
}

// A Buffer is an argument of a kernel: a parameter, a result, workspace, or an operand. Of is the name that a
// page has for it, and of an operand the buffer whose entries it has, Optional says that its address may be 0.
type Buffer struct {
	Name     string `json:"name"`
	Of       string `json:"of"`
	Role     string `json:"role"` // read, write, checkpoint, work or operand
	Type     string `json:"type"` // float, int, bool or operand
	Optional bool   `json:"optional"`
	Domain
	length           *formula
	source           int // of an operand: the index of that buffer
	first, last, row *formula
}

// A Domain is where a page lets the entries of a parameter lie: real numbers from From to To, nil for
// no bound; Value is that of a setting, and Init the first of a weight; whole numbers, see Buffer.Range;
// Rows are unit vectors (unit) or positive numbers with a sum of 1 (distribution), see Buffer.Row. Clock
// is a count of steps, from 1.
type Domain struct {
	From  *float64 `json:"from"`
	To    *float64 `json:"to"`
	Value *float64 `json:"value"`
	Init  *float64 `json:"init"`
	Extra []int    `json:"extra"`
	Rows  string   `json:"rows"`
	Clock bool     `json:"clock"`
}

// Range is the whole numbers that a parameter may hold besides Extra; ok is false for no bound.
func (b *Buffer) Range(sizes map[string]int) (first, last int, ok bool, err error) {
	if b.first == nil || b.last == nil {
		return 0, 0, false, nil
	}
	first, err1 := b.first.eval(sizes)
	last, err2 := b.last.eval(sizes)
	return first, last, true, errors.Join(err1, err2)
}

// Row is the length of the rows of Rows.
func (b *Buffer) Row(sizes map[string]int) (int, error) { return b.row.eval(sizes) }

// Size is the bytes of an entry.
func (b *Buffer) Size() int {
	switch b.Type {
	case "bool":
		return 1
	case operandRole:
		return 2
	}
	return 4
}

// Own reports whether a buffer is no field of a call: workspace, which is the device's own.
func (b *Buffer) Own() bool { return b.Role == "work" || b.Role == operandRole }

// A kernel with operands has the size BFloat16: where it is 1, each operand is a copy of its source in
// bfloat16, and where it is 0, it is the source. A call of the kernel has the field Operands, whose length
// is not 0 where the size is 1.
const (
	BFloat16      = "bf16"
	operandRole   = "operand"
	operandsField = "Operands"
)

// A FunctionInfo is one launch of a kernel.
type FunctionInfo struct {
	Name      string
	Equations []string
	Threads   int
	grid      [][]factor
	arrays    []array
	buffers   []int // arguments: indices of buffers, then of sizes
	sizes     []string
}

type factor struct {
	items *formula
	per   int
}

type array struct {
	bytes   *formula
	scratch int // index of the buffer
}

type quotient struct {
	name     string
	num, den *formula
}

// parse reads the row.
func (k *Kernel) parse() error {
	var row struct {
		Unit, Page string
		Constants  map[string]int
		Open       []string
		Sizes      []string
		Quotients  []struct{ Name, Numerator, Denominator string }
		Buffers    []struct {
			Buffer
			Length, First, Last, Row string
		}
		Functions []struct {
			Name      string
			Equations []string
			Grid      [][]struct {
				Items string
				Per   int
			}
			Block  int
			Arrays []struct{ Name, Bytes, Scratch string }
			Args   []string `json:"arguments"`
		}
	}
	if err := json.Unmarshal(k.row, &row); err != nil {
		return err
	}
	var errs []error
	read := func(text string) *formula {
		f, err := parseFormula(text)
		errs = append(errs, err)
		return f
	}
	k.Unit, k.Page, k.Defaults, k.Open, k.Sizes = row.Unit, row.Page, row.Constants, row.Open, row.Sizes
	for _, q := range row.Quotients {
		k.quotients = append(k.quotients, quotient{q.Name, read(q.Numerator), read(q.Denominator)})
	}
	at := map[string]int{}
	buffers := []Buffer{}
	for i, b := range row.Buffers {
		b.Buffer.length = read(b.Length)
		for _, x := range []struct {
			text string
			to   **formula
		}{{b.First, &b.Buffer.first}, {b.Last, &b.Buffer.last}, {b.Row, &b.Buffer.row}} {
			if x.text != "" {
				*x.to = read(x.text)
			}
		}
		at[b.Name] = i
		buffers = append(buffers, b.Buffer)
	}
	for _, f := range row.Functions {
		info := FunctionInfo{Name: f.Name, Equations: f.Equations, Threads: f.Block}
		for _, g := range f.Grid {
			product := []factor{}
			for _, x := range g {
				product = append(product, factor{read(x.Items), max(x.Per, 1)})
			}
			info.grid = append(info.grid, product)
		}
		for _, a := range f.Arrays {
			info.arrays = append(info.arrays, array{read(a.Bytes), at[a.Scratch]})
		}
		for _, a := range f.Args {
			if i, ok := at[a]; ok {
				info.buffers = append(info.buffers, i)
			} else {
				info.sizes = append(info.sizes, a)
			}
		}
		k.Functions = append(k.Functions, info)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for i := range buffers {
		if b := &buffers[i]; b.Role == operandRole {
			b.source = at[b.Of]
		}
	}
	k.Buffers = buffers
	return nil
}

// room is the dynamic shared memory of a block for its arrays, in bytes: the number is also in
// hecate.cuh and in package emitcuda; tests compare the three.
const room = 96<<10 - 128

// A Shape is what follows from the sizes of one call of a kernel: the entries of each buffer, in
// the order of Kernel.Buffers, and the grid of each launch. A workspace that the kernel
// does not use at these sizes has no entries.
type Shape struct {
	Lengths []int
	Grids   []Grid
	ints    [][]int // by launch: its sizes as arguments
}

// Shape evaluates the formulas at sizes: those of the model and the open ones. A size that is
// missing is an error, and so is one for which the text's 32-bit indices are too small.
func (k *Kernel) Shape(sizes map[string]int) (*Shape, error) {
	all := map[string]int{}
	for s, n := range sizes {
		all[s] = n
	}
	constants := map[string]int{}
	for s := range k.Defaults {
		n, ok := sizes[s]
		if !ok {
			return nil, fmt.Errorf("cuda: kernel %s: size %s is not given", k.Name, s)
		}
		constants[s] = n
	}
	for _, q := range k.quotients {
		for _, into := range []map[string]int{all, constants} {
			num, err1 := q.num.eval(into)
			den, err2 := q.den.eval(into)
			if err1 == nil && err2 == nil && den > 0 {
				into[q.name] = (num + den - 1) / den
			}
		}
	}
	s := &Shape{Lengths: make([]int, len(k.Buffers))}
	for i := range k.Buffers {
		b := &k.Buffers[i]
		n, err := b.length.eval(all)
		if err != nil {
			return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
		}
		if _, err := b.length.eval(constants); err == nil && n >= 1<<31 {
			return nil, fmt.Errorf("cuda: kernel %s: %s has %d entries, its text counts to %d", k.Name, b.Name, n, 1<<31-1)
		}
		s.Lengths[i] = n
		if b.Role == operandRole && all[BFloat16] == 0 {
			s.Lengths[i] = 0
		}
	}
	for i := range k.Functions {
		f := &k.Functions[i]
		g := Grid{Threads: f.Threads}
		for _, product := range f.grid {
			n := 1
			for _, x := range product {
				items, err := x.items.eval(all)
				if err != nil {
					return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
				}
				n *= (items + x.per - 1) / x.per
			}
			g.Blocks += n
		}
		if g.Blocks >= 1<<31 {
			return nil, fmt.Errorf("cuda: kernel %s needs %d blocks, a launch has at most %d", k.Name, g.Blocks, 1<<31-1)
		}
		for _, a := range f.arrays {
			n, err := a.bytes.eval(all)
			if err != nil {
				return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
			}
			if n = (n + 15) / 16 * 16; g.Shared+n <= room {
				g.Shared += n
				s.Lengths[a.scratch] = 0
			}
		}
		var ints []int
		for _, name := range f.sizes {
			n, ok := sizes[name]
			if !ok {
				return nil, fmt.Errorf("cuda: kernel %s: size %s is not given", k.Name, name)
			}
			ints = append(ints, n)
		}
		s.Grids, s.ints = append(s.Grids, g), append(s.ints, ints)
	}
	return s, nil
}

// Constants are the sizes of the model as the text's macro gives them, as in d_k=64,d_v=96.
func (k *Kernel) Constants(sizes map[string]int) (string, error) {
	var out []string
	for s := range k.Defaults {
		n, ok := sizes[s]
		if !ok {
			return "", fmt.Errorf("cuda: kernel %s: size %s is not given", k.Name, s)
		}
		out = append(out, fmt.Sprintf("%s=%d", s, n))
	}
	slices.Sort(out)
	return strings.Join(out, ","), nil
}
