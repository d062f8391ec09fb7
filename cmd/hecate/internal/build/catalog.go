package build

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// Float is the element type of a model that is built: what both the arithmetic
// and a checkpoint know.
type Float interface{ float32 | float64 }

// A Catalog is what can be built: the models and the update that moves their
// parameters. The generated code provides it; this package knows no model.
type Catalog[F Float] struct {
	Models func() []string
	New    func(name string, sizes block.Sizes) (block.Model[F], error)
	// Update returns the update with its own settings, but the given rate;
	// a rate of 0 is its own as well.
	Update func(rate float64) Update[F]
}

// An Update moves a parameter by its gradient.
type Update[F Float] interface {
	Name() string
	// Rate is the learning rate in use.
	Rate() float64
	// Settings are all numbers that decide what the update does, as
	// "name=value …": a resumed run must have the same.
	Settings() string
	// New makes the slots of a parameter of n entries.
	New(n int) Slots[F]
}

// Slots are what an update keeps for one parameter.
type Slots[F Float] interface {
	// Apply changes w in place, with workspace from r. n is the number of this
	// update, from 1.
	Apply(r *tape.Run[F], n int, nodecay bool, w, g []F)
	// Each calls f for every slot, to save and to restore it.
	Each(f func(name string, data []F))
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

// badRate reports what is wrong with a learning rate.
func badRate(lr float64) error {
	if lr > 0 && !math.IsInf(lr, 1) {
		return nil
	}
	return fmt.Errorf("the learning rate is %v, must be a number above 0", lr)
}
