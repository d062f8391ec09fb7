package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
)

// How far a result of a trial in float32 may be from float64, relative to its norm:
// hundreds of nonlinear steps, each of which rounds the state that the next one
// starts from. The gradient of a bounded loss has steps, and an entry of the error
// within rounding of the bound falls on either side of it.
const (
	trialValues    = 1e-4
	trialGradients = 1e-3
)

// errNoJAX says that there is nothing to compare with.
var errNoJAX = errors.New("no JAX")

// startJAX starts validation/bench/jax with an interpreter of Python; its arguments are those of
// validation/bench/jax/serve.py.
func startJAX(root, python string, args ...string) (*peer[float32], error) {
	if err := exec.Command(python, "-c", "import jax").Run(); err != nil {
		return nil, fmt.Errorf("%w: %s cannot import it (name an interpreter with -python), so nothing is compared with it", errNoJAX, python)
	}
	return startPeer[float32]("validation/bench/jax", exec.Command(python, append([]string{filepath.Join(root, "validation", "bench", "jax", "serve.py")}, args...)...))
}

// The variants of a trial other than the forms of the emitted code.
const (
	variantC   = "C"
	variantJAX = "JAX"
)

// A rival is a process that takes part in a trial, and the variant it is.
type rival struct {
	variant string
	*peer[float32]
}

// A trial is one rule at one width.
type trial struct {
	member
	d     int
	forms map[string]*bound[float32]
	names []string // of forms
	at    map[string]int
}

// what names a trial in the measurement.
func (m member) what(d int) string { return at("rule "+m.name, d) }

// newTrial computes everything once and compares it with float64.
func newTrial(m member, T, d int, rivals []rival, seed uint64, far map[string]difference) (*trial, error) {
	given := m.draw(T, d, rand.New(rand.NewPCG(seed, uint64(d))))
	wide := map[string][]float64{}
	for name, x := range given {
		wide[name] = slices.Collect(func(yield func(float64) bool) {
			for _, v := range x {
				if !yield(float64(v)) {
					return
				}
			}
		})
	}
	want := bind(forms[float64](m.name)[0], T, d, m.segment(), wide)
	want.Run()
	x := &trial{member: m, d: d, forms: map[string]*bound[float32]{}, at: map[string]int{}}
	for _, f := range forms[float32](m.name) {
		b := bind(f, T, d, m.segment(), given)
		b.Run()
		x.names, x.forms[f.name] = append(x.names, f.name), b
		for _, name := range m.results() {
			if err := x.hold(goPrefix+f.name, name, distance(b.of[name], want.of[name]), far); err != nil {
				return nil, err
			}
		}
	}
	for _, r := range rivals {
		if err := x.compare(r, T, given, want, far); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// compare sends the inputs to another process, which computes them once.
func (x *trial) compare(r rival, T int, given map[string][]float32, want *bound[float64], far map[string]difference) (err error) {
	var data [][]float32
	for _, name := range x.inputs() {
		data = append(data, given[name])
	}
	if x.at[r.variant], err = r.loadRule(x.name, T, x.d, data); err != nil {
		return err
	}
	if _, err := r.step(x.at[r.variant], 0); err != nil {
		return err
	}
	for _, name := range x.results() {
		got, err := r.stepped(x.at[r.variant], len(want.of[name]), name)
		if err != nil {
			return err
		}
		if err := x.hold(r.variant, name, distance(got, want.of[name]), far); err != nil {
			return err
		}
	}
	return nil
}

// hold compares a distance with what is allowed and keeps the largest of a
// variant.
func (x *trial) hold(variant, name string, relative float64, far map[string]difference) error {
	limit := trialValues
	if tolerance(name) == equalGradients {
		limit = trialGradients
	}
	if !(relative <= limit) {
		return fmt.Errorf("%s: %s of %s is %.2g from float64, more than %g: nothing is timed", x.what(x.d), name, variant, relative, limit)
	}
	if old, ok := far[variant]; !ok || relative > old.relative {
		far[variant] = difference{x.what(x.d), name, relative}
	}
	return nil
}

// tasks are both passes of every variant.
func (x *trial) tasks(rivals []rival, fastest level) (out []task) {
	for _, name := range x.names {
		out = append(out, task{x.what(x.d), 0, goPrefix + name, fastest.at(clocked(x.forms[name]))})
	}
	for _, r := range rivals {
		out = append(out, task{x.what(x.d), 0, r.variant, warmed(func(warm int) (int64, error) {
			t, err := r.step(x.at[r.variant], warm)
			return t.cpu, err
		})})
	}
	return out
}

// trials prepares the rules of the given names, or all, at all widths.
func trials(only []string, T int, rivals []rival, seed uint64, far map[string]difference) (out []task, err error) {
	all, _ := levels(modelLevels)
	for _, m := range family {
		if len(only) > 0 && !slices.Contains(only, m.name) {
			continue
		}
		for _, d := range familyWidths {
			x, err := newTrial(m, m.length(T, d), d, rivals, seed, far)
			if err != nil {
				return nil, err
			}
			out = append(out, x.tasks(rivals, all[len(all)-1])...)
		}
	}
	return out, nil
}
