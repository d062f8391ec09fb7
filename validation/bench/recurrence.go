package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// How far a result in float32 may be from the same in float64, relative to its
// norm: sums of 512 products in another order. Adjoints pass through twice as
// many of them.
const (
	equalValues    = 2e-6
	equalGradients = 1e-5
)

// A difference is how far a result of a variant is from float64.
type difference struct {
	at, name string // what was computed, and which result
	relative float64
}

// tolerance is what a result may differ by.
func tolerance(name string) float64 {
	if strings.Contains(name, ".bar") {
		return equalGradients
	}
	return equalValues
}

// checks keeps the largest differences of each variant, of values and of
// gradients.
type checks struct {
	variants          []string
	values, gradients map[string]difference
}

// add compares a result; one that is too far away is an error.
func (c *checks) add(variant string, d difference) error {
	if !(d.relative <= tolerance(d.name)) {
		return fmt.Errorf("%s: %s of %s is %.2g from float64, more than %g: nothing is timed", d.at, d.name, variant, d.relative, tolerance(d.name))
	}
	if c.values == nil {
		c.values, c.gradients = map[string]difference{}, map[string]difference{}
	}
	of := c.values
	if tolerance(d.name) == equalGradients {
		of = c.gradients
	}
	_, a := c.values[variant]
	_, b := c.gradients[variant]
	if !a && !b {
		c.variants = append(c.variants, variant)
	}
	if old, ok := of[variant]; !ok || d.relative >= old.relative {
		of[variant] = d
	}
	return nil
}

// String is a table of the checks.
func (c *checks) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Before anything is timed every variant is held to float64, over all widths: relative L2, at most %.0e\nfor values and %.0e for gradients.\n\n"+
		"| variant | values | gradients |\n|---|---|---|\n", equalValues, equalGradients)
	for _, v := range c.variants {
		cell := func(of map[string]difference) string {
			if d, ok := of[v]; ok {
				return fmt.Sprintf("%.1e (%s of %s)", d.relative, d.name, d.at)
			}
			return "–"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", v, cell(c.values), cell(c.gradients))
	}
	return b.String()
}

// A recurrence is one rule at one width: the emitted code at every level and,
// for the delta rule, C, all on the same series, all compared with float64.
type recurrence struct {
	rule   string
	d      int
	levels []level
	go32   []*passes[float32] // by level
	c      *cc[float32]       // nil for other rules and without a compiler
	series int                // in C
}

// newRecurrence binds everything, runs it once and compares it.
func newRecurrence(r rule[float32], wide rule[float64], d int, c *cc[float32], seed uint64, k *checks) (*recurrence, error) {
	s := newSeries[float32](tokens, d, rand.New(rand.NewPCG(seed, uint64(d))))
	oracle := newPasses(wide, widened(s), tokens)
	oracle.all()
	want := oracle.results()
	out := &recurrence{rule: r.name, d: d}
	all, _ := levels(recurrenceLevels)
	for _, l := range all {
		if !l.timed(d) {
			continue
		}
		p := newPasses(r, s, sliceTokens(tokens, d, segment))
		for _, threads := range threadCounts() {
			if err := out.emitted(l, p, threads, want, k); err != nil {
				return nil, err
			}
		}
		out.levels, out.go32 = append(out.levels, l), append(out.go32, p)
	}
	if c == nil || r.name != deltaRule {
		return out, nil
	}
	out.c = c
	var err error
	if out.series, err = c.load(s); err != nil {
		return nil, err
	}
	for _, pass := range passNames {
		for _, v := range c.fit(pass, d) {
			for _, threads := range threadCounts() {
				if threads > 1 && !shares(v, d) {
					continue
				}
				if err := out.compare(v, threads, want, k); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
}

// emitted runs the emitted code at a level and compares its results.
func (r *recurrence) emitted(l level, p *passes[float32], threads int, want map[string][]float64, k *checks) error {
	for _, x := range p.each {
		clear(x)
	}
	_, err := l.at(func() (int64, error) {
		setThreads(threads)
		defer setThreads(1)
		p.all()
		return 0, nil
	})()
	if err != nil {
		return err
	}
	for name, x := range p.results() {
		if err := k.add(l.variant(), difference{at(r.rule, r.d), name, distance(x, want[name])}); err != nil {
			return err
		}
	}
	return nil
}

// compare runs a variant of C in slices and compares its results.
func (r *recurrence) compare(v ccVariant, threads int, want map[string][]float64, k *checks) error {
	if err := r.c.all(r.series, v, tokens, sliceTokens(tokens, r.d, segment), threads); err != nil {
		return err
	}
	for _, name := range ccResults[v.pass] {
		x, err := r.c.get(len(want[name]), "get %d %d %s", r.series, v.number, name)
		if err != nil {
			return err
		}
		if err := k.add(v.String(), difference{at(r.rule, r.d), name, distance(x, want[name])}); err != nil {
			return err
		}
	}
	return nil
}

// ccResults are what a pass in C computes, by the plan's names.
var ccResults = map[string][]string{
	forward:  {"y", "M_lin", "M.out", "M.checkpoints"},
	backward: {"k.bar", "q.bar", "v.bar", "rho.bar", "theta.bar", "M.bar.out"},
}

// tasks are the slices of every variant on one thread.
func (r *recurrence) tasks() (out []task) {
	n := sliceTokens(tokens, r.d, segment)
	for _, pass := range passNames {
		what := at(passOf(r.rule, pass), r.d)
		for i, p := range r.go32 {
			for slice, run := range p.slices(pass) {
				out = append(out, task{what, slice, r.levels[i].variant(), r.levels[i].at(clocked(run))})
			}
		}
		if r.c == nil {
			continue
		}
		for _, v := range r.c.fit(pass, r.d) {
			for start := 0; start < tokens; start += n {
				out = append(out, task{what, start / n, v.String(), warmed(func(warm int) (int64, error) {
					t, err := r.c.run(r.series, v, start, min(n, tokens-start), 1, warm)
					return t.cpu, err
				})})
			}
		}
	}
	return out
}

// recurrences are all rules at all widths.
func recurrences(c *cc[float32], seed uint64, k *checks) (out []*recurrence, err error) {
	wide := rules[float64]()
	for i, r := range rules[float32]() {
		for _, d := range widths {
			x, err := newRecurrence(r, wide[i], d, c, seed, k)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
	}
	return out, nil
}
