package build

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/update"
)

// Float is the element type of a model that is built.
type Float interface{ module.Float }

// A Catalog is what can be built: the models and the updates that move their
// parameters, and the hash of the pages that they were compiled from, if there is
// one. The generated code provides it; this package knows none by name.
type Catalog[F Float] struct {
	Spec      string
	Models    func() []string
	New       func(name string, sizes block.Sizes) (block.Model[F], error)
	Updates   func() []string
	NewUpdate func(name string) (update.Update[F], error)
}

// A Setting is an option of an update with a value.
type Setting struct {
	Name  string
	Value float64
}

// rateName is the setting that --lr changes.
const rateName = "lr"

// update returns an update by its name, with the settings that differ from those
// of its page. A rate of 0 is the page's own.
func (c Catalog[F]) update(name string, rate float64, given []Setting) (update.Update[F], error) {
	u, err := c.NewUpdate(name)
	if err != nil {
		return nil, err
	}
	if rate != 0 {
		given = append([]Setting{{rateName, rate}}, given...)
	}
	for _, s := range given {
		if err := u.Set(s.Name, s.Value); err != nil {
			return nil, fmt.Errorf("update %s: %w", name, err)
		}
	}
	return u, nil
}

// byDefault are the sizes of a build that is told none. A model without such
// a size does without.
var byDefault = map[string]int{
	"d": 64, "V": 256,
	"attention.H": 4, "attention.n_p": 0, "attention.w": 64,
	"memory.d_k": 64,
}

// maxSize keeps a slip of the finger from asking for all memory there is.
const maxSize = 1 << 14

// model returns the model of a name and its sizes: the given ones, and the
// defaults that it has a use for.
func (c Catalog[F]) model(name string, given map[string]int) (block.Model[F], map[string]int, error) {
	if names := c.Models(); !slices.Contains(names, name) {
		return nil, nil, fmt.Errorf("there is no model %q; there are %s", name, strings.Join(names, ", "))
	}
	for _, n := range slices.Sorted(maps.Keys(given)) {
		if given[n] > maxSize {
			return nil, nil, fmt.Errorf("size %s is %d, must be at most %d", n, given[n], maxSize)
		}
	}
	sizes := maps.Clone(byDefault)
	maps.Copy(sizes, given)
	m, err := c.New(name, block.NewSizes(maps.Clone(sizes)))
	if err == nil {
		return m, sizes, nil
	}
	// The model says which sizes mean nothing to it.
	for n := range byDefault {
		_, mine := given[n]
		if !mine && slices.Contains(strings.Split(strings.TrimPrefix(err.Error(), "sizes: "), "; "), "there is no size "+n) {
			delete(sizes, n)
		}
	}
	m, err = c.New(name, block.NewSizes(maps.Clone(sizes)))
	if err != nil {
		return nil, nil, fmt.Errorf("model %s: %w", name, err)
	}
	return m, sizes, nil
}

// sizeWords prints sizes as --set takes them, in order.
func sizeWords(sizes map[string]int) string {
	var words []string
	for _, n := range slices.Sorted(maps.Keys(sizes)) {
		words = append(words, fmt.Sprintf("%s=%d", n, sizes[n]))
	}
	return strings.Join(words, " ")
}
