package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/command/internal/progress"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/catalog"
	"github.com/nl-hecate/hecate/runtime/formula"
	"github.com/nl-hecate/hecate/runtime/pulse"
)

// A model is made from its formula. A size comes from the configuration, the formula,
// its page or, where none of them sets it, from here: by its name without its part,
// or else it is the width. The sizes that were used are part of the run's identity.

// byName are the default sizes of a build, except the vocabulary, which is that of
// the source.
var byName = map[string]int{widthName: 64, "H": 4, "n_p": 0}

const (
	widthName = "d"
	vocabName = "V"
	// maxSize keeps a mistyped size from exhausting the memory.
	maxSize = 1 << 14
)

// make makes a model with sizes, and returns all its sizes by their full names.
func (m *Modules) make(text string, given map[string]int, vocab int) (model block.Model[float32], used map[string]int, err error) {
	width := byName[widthName]
	for { // a formula may set the width, which is known when it is bound
		s := block.NewSizes(maps.Clone(given)).Else(func(name string) int {
			if n, ok := byName[name]; ok {
				return n
			} else if name == vocabName {
				return vocab
			}
			return width
		})
		model, err = catalog.NewModel[float32](m.Catalog, text, s)
		used = s.Used()
		if w, ok := used[widthName]; !ok || w == width {
			return model, used, err
		}
		width = used[widthName]
	}
}

// model makes the model of a configuration and returns its sizes in words. Its
// vocabulary is that of the input, unless configured.
func (m *Modules) model(c *config.Loaded, vocab int) (block.Model[float32], string, error) {
	model, used, err := m.make(c.Model.Formula, c.Model.Sizes, vocab)
	if err != nil {
		return nil, "", m.wrongSizes(c, vocab, err)
	}
	for _, n := range slices.Sorted(maps.Keys(used)) {
		if used[n] > maxSize {
			return nil, "", c.Wrong("model.formula", fmt.Sprintf("size %s is %d, must be at most %d", n, used[n], maxSize), "")
		}
	}
	if v := model.Vocabulary(); v < vocab {
		return nil, "", c.Wrong("model.sizes."+vocabName, fmt.Sprintf("the model has %d tokens, its input has %d", v, vocab), "")
	}
	return model, sizeWords(used), nil
}

// wrongSizes reports each configured size that is wrong by itself; if none is, the
// model is refused as a whole.
func (m *Modules) wrongSizes(c *config.Loaded, vocab int, whole error) error {
	var all config.Problems
	for _, n := range slices.Sorted(maps.Keys(c.Model.Sizes)) {
		_, used, err := m.make(c.Model.Formula, map[string]int{n: c.Model.Sizes[n]}, vocab)
		if err == nil {
			continue
		}
		hint, there := "", sizeNames(used)
		if !slices.Contains(there, n) {
			hint = config.DidYouMean(n, there)
		}
		all = append(all, c.Wrong("model.sizes."+n, fmt.Sprintf("model %s: %v", c.Model.Formula, err), hint)...)
	}
	if all != nil {
		return all
	}
	return c.Wrong("model.formula", fmt.Sprintf("model %s: %v", c.Model.Formula, whole), "")
}

// KnowsSize reports whether a model has a size of this name, or one in a part of this
// name.
func (m *Modules) KnowsSize(model, size string) bool {
	if wrongFormula(m.Pages(), model) != nil {
		return false
	}
	_, used, _ := m.make(model, nil, 1) // errors are reported elsewhere
	part, _, dotted := strings.Cut(size, ".")
	return slices.ContainsFunc(sizeNames(used), func(n string) bool { return n == size || dotted && strings.HasPrefix(n, part+".") })
}

// sizeNames are all names of a size: that of one part of a list, memory.2.d_k, and
// that of all of them, memory.d_k.
func sizeNames(used map[string]int) (names []string) {
	for n := range used {
		words := slices.DeleteFunc(strings.Split(n, "."), func(w string) bool { return strings.Trim(w, "0123456789") == "" })
		names = append(names, n, strings.Join(words, "."))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// wrongFormula is the error of a formula of a model, a *formula.Error.
func wrongFormula(pages formula.Table, text string) error {
	f, err := formula.Parse(text)
	if err == nil {
		_, err = pages.Bind(f, formula.Model)
	}
	return err
}

// spelled is a formula in canonical form.
func spelled(text string) string {
	f, err := formula.Parse(text)
	if err != nil {
		return text // its error is reported elsewhere
	}
	return f.String()
}

// sizeWords prints sizes as name=value, in order.
func sizeWords(sizes map[string]int) string {
	var words []string
	for _, n := range slices.Sorted(maps.Keys(sizes)) {
		words = append(words, fmt.Sprintf("%s=%d", n, sizes[n]))
	}
	return strings.Join(words, " ")
}

// Rate is the default learning rate of an update.
func (m *Modules) Rate(name string) float64 {
	u, err := catalog.NewUpdate[float32](m.Catalog, name)
	if err != nil {
		return 0
	}
	return rateOf(u)
}

// schedule is the schedule of the levels of a model: as configured, or as its page
// proposes.
func schedule(c *config.Loaded, model block.Model[float32]) (pulse.Schedule, error) {
	unit, err := pulse.UnitOf(c.Levels.Unit)
	if err != nil {
		return pulse.Schedule{}, err
	}
	n, proposed := model.NewMemory(1).Levels()
	periods := c.Levels.Periods
	switch {
	case len(periods) == 0 && n == 1:
		periods = []int{1}
	case len(periods) == 0 && len(proposed) == n:
		periods = proposed
	case len(periods) == 0:
		return pulse.Schedule{}, c.Wrong("model.formula", fmt.Sprintf("the model has %d levels, and its page proposes periods for %d", n, len(proposed)),
			"give levels.periods "+progress.Things(n, "number"))
	case len(periods) != n:
		return pulse.Schedule{}, c.Wrong("levels.periods", fmt.Sprintf("levels.periods has %s, the model has %s", progress.Things(len(periods), "period"), progress.Things(n, "level")), "")
	}
	return pulse.Schedule{Unit: unit, Periods: periods}, nil
}
