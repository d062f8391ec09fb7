// Package catalog is the table of pages that a program can build models from:
// rules, compositions, models and updates by name, each with its constructor.
//
// Every generated package describes itself by an Entry. A generated package
// registry puts the entries of one module into a Catalog; that of a module which
// has pages of its own extends the library's. NewModel, NewBlock and NewRule read
// a formula, find its pages in a catalog, and build the innermost parts first.
package catalog

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/formula"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/update"
)

// A Catalog is a table of pages. It does not change and may be shared.
type Catalog struct {
	entries    map[string]Entry
	names      []string // in the order in which entries were added
	pages      formula.Table
	kernels    [][]byte                   // archives
	images     [][]byte                   // files of cuda.Images
	references []func() device.References // of the same kernels in Go
}

// New makes a catalog of entries. Two entries of one name are a mistake of whoever
// wrote the program, and New panics; the compiler refuses pages that would lead there.
func New(entries ...Entry) *Catalog { return (&Catalog{}).With(entries...) }

// With returns a catalog that has further entries after those of c, which does
// not change. It panics as New does.
func (c *Catalog) With(entries ...Entry) *Catalog {
	out := &Catalog{entries: map[string]Entry{}, pages: formula.Table{}, kernels: c.kernels, images: c.images, references: c.references}
	for _, n := range c.names {
		out.add(c.entries[n])
	}
	for _, e := range entries {
		out.add(e)
	}
	return out
}

// WithKernels returns a catalog that has one more archive of CUDA kernels, and the same kernels in Go.
func (c *Catalog) WithKernels(archive []byte, references []func() device.References) *Catalog {
	out := c.With()
	if len(archive) > 0 {
		out.kernels, out.references = append(slices.Clip(out.kernels), archive), append(slices.Clip(out.references), references...)
	}
	return out
}

// Reference makes a call of a kernel of an archive in Go; ok is false where there is none of its name.
func (c *Catalog) Reference(kernel string) (call device.Reference, ok bool) {
	for _, f := range slices.Backward(c.references) {
		if r, ok := f()[kernel]; ok {
			return r(), true
		}
	}
	return call, false
}

// WithImages returns a catalog that has compiled CUDA kernels, too: a file of hecate images. Without data it
// is the same.
func (c *Catalog) WithImages(data []byte) *Catalog {
	if len(data) == 0 {
		return c
	}
	out := c.With()
	out.images = append(slices.Clip(out.images), data)
	return out
}

// Kernels are the archives of the CUDA kernels of the pages, for cuda.OpenLibrary; none in a
// program that was built with the tag nogpu.
func (c *Catalog) Kernels() [][]byte { return c.kernels }

// Images are the files of compiled CUDA kernels, for cuda.ReadImages.
func (c *Catalog) Images() [][]byte { return c.images }

func (c *Catalog) add(e Entry) {
	if _, twice := c.entries[e.name]; twice {
		panic("catalog: two pages are named " + e.name)
	}
	c.entries[e.name] = e
	c.names = append(c.names, e.name)
	if e.page.Kind != "" {
		c.pages[e.name] = e.page
	}
}

// Pages are the pages that a formula can name.
func (c *Catalog) Pages() formula.Table { return c.pages }

// Models are the names of the models that have all their parts, sorted.
func (c *Catalog) Models() []string {
	out := c.which(func(e Entry) bool { return e.page.Kind == formula.Model && e.page.Is != "" })
	slices.Sort(out)
	return out
}

// Rules are the names of the memory rules, in the order of the catalog.
func (c *Catalog) Rules() []string {
	return c.which(func(e Entry) bool { return e.page.Kind == formula.Rule })
}

// Updates are the names of the updates that move parameters, sorted.
func (c *Catalog) Updates() []string {
	out := c.which(func(e Entry) bool { return e.f32.update != nil && !e.collects })
	slices.Sort(out)
	return out
}

// Buffers are the names of the updates that move nothing and collect the gradients
// that wait until a level is updated, sorted.
func (c *Catalog) Buffers() []string {
	out := c.which(func(e Entry) bool { return e.f32.update != nil && e.collects })
	slices.Sort(out)
	return out
}

func (c *Catalog) which(has func(Entry) bool) []string {
	return slices.DeleteFunc(slices.Clone(c.names), func(n string) bool { return !has(c.entries[n]) })
}

// Digest is a hash of everything that the pages of the catalog compute: it changes
// with every equation and with no word of prose.
func (c *Catalog) Digest() string { return c.digest(c.names) }

// DigestOf is the same of the pages that a formula uses, and of those named further:
// pages that a model has nothing to do with may change.
func (c *Catalog) DigestOf(text string, further ...string) (string, error) {
	used, err := c.usedBy(text)
	if err != nil {
		return "", err
	}
	for _, name := range further {
		used[name] = true
	}
	names := c.which(func(e Entry) bool { return used[e.name] })
	slices.Sort(names)
	return c.digest(names), nil
}

// An Operands is a row of the precision map of a model: a page, and the names of its values that are
// operands of matrix products or of attention, with commas between them. They are
// what tape.Arena.BFloat16 stores in bfloat16.
type Operands struct{ Page, Names string }

// OperandsOf is the precision map of a model, a row for each page of the formula that has operands, in the
// order of the catalog. The error is that of the formula.
func (c *Catalog) OperandsOf(text string) (out []Operands, err error) {
	used, err := c.usedBy(text)
	if err != nil {
		return nil, err
	}
	for _, n := range c.names {
		if e := c.entries[n]; used[n] && e.operands != "" {
			out = append(out, Operands{n, e.operands})
		}
	}
	return out, nil
}

// usedBy are the pages that the formula of a model uses.
func (c *Catalog) usedBy(text string) (map[string]bool, error) {
	n, err := c.bind(text, formula.Model)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	var visit func(*formula.Node)
	visit = func(n *formula.Node) {
		used[n.Name] = true
		for _, list := range n.Parts {
			for _, p := range list {
				visit(p)
			}
		}
	}
	visit(n)
	return used, nil
}

func (c *Catalog) digest(names []string) string {
	h := sha256.New()
	for _, n := range names {
		fmt.Fprintln(h, n, c.entries[n].digest)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func (c *Catalog) bind(text, kind string) (*formula.Node, error) {
	f, err := formula.Parse(text)
	if err != nil {
		return nil, err
	}
	return c.pages.Bind(f, kind)
}

// NewModel builds a model from a formula, such as ByteLM(MAG(DeltaRule, SlidingWindow)),
// or from the name of a model. The sizes of parts carry their names: attention.H,
// memory.2.d_k of a list's third part, or memory.d_k of all of them. It fails with a
// *formula.Error, and for a size that is missing, impossible or means nothing.
func NewModel[F num.Float](c *Catalog, text string, s block.Sizes) (block.Model[F], error) {
	n, err := c.bind(text, formula.Model)
	if err != nil {
		return nil, err
	}
	s = given(s, n)
	m := makersOf[F](c.entries[n.Name]).model(Arguments[F]{Sizes: s, Width: s.Get(n.Page.Width, -1, 1), node: n, from: c})
	return m, s.Err()
}

// NewBlock builds a rule, composition or schedule from a formula, for vectors of the
// given width. It fails as NewModel does.
func NewBlock[F num.Float](c *Catalog, text string, s block.Sizes, width int) (block.Block[F], error) {
	return newBlock[F](c, text, formula.Block, s, width)
}

// NewRule builds a memory rule, or a schedule of rules, from a formula, for vectors of
// the given width. It fails as NewModel does.
func NewRule[F num.Float](c *Catalog, text string, s block.Sizes, width int) (block.Block[F], error) {
	return newBlock[F](c, text, formula.Rule, s, width)
}

func newBlock[F num.Float](c *Catalog, text, kind string, s block.Sizes, width int) (block.Block[F], error) {
	n, err := c.bind(text, kind)
	if err != nil {
		return nil, err
	}
	b := assemble[F](c, n, s, width)
	return b, s.Err()
}

// assemble builds the page of a node, its parts first.
func assemble[F num.Float](c *Catalog, n *formula.Node, s block.Sizes, width int) block.Block[F] {
	return makersOf[F](c.entries[n.Name]).block(Arguments[F]{Sizes: given(s, n), Width: width, node: n, from: c})
}

// given are the sizes with those that the formula sets for the page of a node.
func given(s block.Sizes, n *formula.Node) block.Sizes {
	for name, v := range n.Sizes {
		s = s.Default(name, v)
	}
	return s
}

// NewUpdate makes an update or a buffer by name, with the settings of its page. It fails
// for a name that no update has.
func NewUpdate[F num.Float](c *Catalog, name string) (update.Update[F], error) {
	if e := c.entries[name]; e.f32.update != nil {
		return makersOf[F](e).update(), nil
	}
	return nil, fmt.Errorf("there is no update %s; there are %s", name, strings.Join(c.Updates(), ", "))
}
