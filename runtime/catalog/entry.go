package catalog

import (
	"fmt"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/formula"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/update"
)

// An Entry is one page of a catalog. Generated packages make them.
type Entry struct {
	name, digest string
	page         formula.Page
	collects     bool // an update that moves nothing
	operands     string
	f32          makers[float32]
	f64          makers[float64]
}

// makers are the constructors of a page in one precision; an entry has one of them,
// or none where a formula is all that there is.
type makers[F num.Float] struct {
	block  func(Arguments[F]) block.Block[F]
	model  func(Arguments[F]) block.Model[F]
	update func() update.Update[F]
}

// makersOf are the constructors in a precision, which is float32 or float64.
func makersOf[F num.Float](e Entry) makers[F] {
	if m, ok := any(e.f32).(makers[F]); ok {
		return m
	}
	return any(e.f64).(makers[F])
}

// Block is the entry of a rule, composition or schedule. The digest is a hash of what
// the page computes.
func Block(name, digest string, page formula.Page, f32 func(Arguments[float32]) block.Block[float32], f64 func(Arguments[float64]) block.Block[float64]) Entry {
	return Entry{name: name, digest: digest, page: page, f32: makers[float32]{block: f32}, f64: makers[float64]{block: f64}}
}

// WithOperands returns the entry of a page whose products have operands of these names, with commas between
// them: what is stored in bfloat16 where that is asked for.
func (e Entry) WithOperands(names string) Entry {
	e.operands = names
	return e
}

// Model is the entry of a model.
func Model(name, digest string, page formula.Page, f32 func(Arguments[float32]) block.Model[float32], f64 func(Arguments[float64]) block.Model[float64]) Entry {
	return Entry{name: name, digest: digest, page: page, f32: makers[float32]{model: f32}, f64: makers[float64]{model: f64}}
}

// Named is the entry of a formula with a name.
func Named(name, kind, formulaText string) Entry {
	return Entry{name: name, page: formula.Page{Kind: kind, Is: formulaText}}
}

// Update is the entry of an update, or, with collects set, of a buffer.
func Update(name, digest string, collects bool, f32 func() update.Update[float32], f64 func() update.Update[float64]) Entry {
	return Entry{name: name, digest: digest, collects: collects, f32: makers[float32]{update: f32}, f64: makers[float64]{update: f64}}
}

// A Arguments is what a page is built from: its sizes, the width of its vectors, and the
// pages in the places of its parts.
type Arguments[F num.Float] struct {
	Sizes block.Sizes
	Width int // entries of a vector
	node  *formula.Node
	from  *Catalog
}

// Part builds the page in the place of a part.
func (m Arguments[F]) Part(name string) block.Block[F] {
	s := m.Sizes
	if !m.node.Bare(name) {
		s = s.Part(name)
	}
	return assemble[F](m.from, m.node.Part(name)[0], s, m.Width)
}

// List builds the pages in the places of a list of parts.
func (m Arguments[F]) List(name string) []block.Block[F] {
	var out []block.Block[F]
	for i, n := range m.node.Part(name) {
		out = append(out, assemble[F](m.from, n, m.Sizes.Part(fmt.Sprintf("%s.%d", name, i)), m.Width))
	}
	return out
}
