package main

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/runtime/cpu"
)

// What the emitted code is to reach is a table of targets: ratios of one run, for
// the fastest level that there is, at each width. They are printed as met or not
// met; nothing is asserted.

// A target is one of them: what it is of, the target at a width, and what was
// found, 0 for nothing, with the variant that it was found against.
type target struct {
	what  string
	floor func(d int) float64 // 0 where there is no target
	of    func(d int) (found float64, with string)
}

// fast is the fastest level of a pass or product.
func (r *report) fast(name string) string { return fastest(r.core.rowsOf(name)) }

// always is the same target at every width.
func always(x float64) func(int) float64 { return func(int) float64 { return x } }

// against is how many times as long as the emitted Go the quickest of some
// variants takes.
func (r *report) against(name string, is func(variant string) bool) func(int) (float64, string) {
	return func(d int) (float64, string) {
		what := at(name, d)
		var best string
		for _, v := range r.core.variants(what) {
			if is(v) && (best == "" || r.core.sum(what, v) < r.core.sum(what, best)) {
				best = v
			}
		}
		if best == "" {
			return 0, ""
		}
		return r.core.over(what, best, r.fast(name)).of, best
	}
}

// sharing is the share of the peak that the fastest level reaches.
func (r *report) sharing(name string) func(int) (float64, string) {
	return func(d int) (float64, string) { return r.share(name, r.fast(name), d), "" }
}

// likeDelta is that share ÷ the share of the delta rule's same pass.
func (r *report) likeDelta(rule, pass string) func(int) (float64, string) {
	return func(d int) (float64, string) {
		own, of := passOf(rule, pass), passOf(deltaRule, pass)
		base := r.share(of, r.fast(of), d)
		if base == 0 {
			return 0, ""
		}
		return r.share(own, r.fast(own), d) / base, ""
	}
}

// doubled is how many times as fast the fastest level is on two threads.
func (r *report) doubled(name string) func(int) (float64, string) {
	return func(d int) (float64, string) {
		one, two := threadVariant(r.fast(name), 1), threadVariant(r.fast(name), 2)
		if r.threads == nil || r.threads.sum(at(name, d), two) == 0 {
			return 0, ""
		}
		return r.threads.over(at(name, d), one, two).of, ""
	}
}

// named reports whether the name of a variant begins and ends so.
func named(first, last string) func(string) bool {
	return func(v string) bool { return strings.HasPrefix(v, first) && strings.HasSuffix(v, last) }
}

// targets are all of them.
func (r *report) targets() []target {
	small := func(floor float64) func(int) float64 {
		return func(d int) float64 {
			if d <= 128 {
				return floor
			}
			return 0
		}
	}
	wider := func(first, rest float64) func(int) float64 {
		return func(d int) float64 {
			if d < 128 {
				return first
			}
			return rest
		}
	}
	fwd, bwd := passOf(deltaRule, forward), passOf(deltaRule, backward)
	out := []target{
		{"delta forward: C intrinsics of the mapping ÷ Go", always(0.9), r.against(fwd, named("C cols", ", AVX-512 intrinsics"))},
		{"delta forward: fast-math textbook ÷ Go", always(2), r.against(fwd, named("C textbook "+fastFlags, ""))},
		{"delta forward: best fast-math ÷ Go", always(1.7), r.against(fwd, named("C ", fastFlags))},
		{"delta forward: share of the peak", small(0.6), r.sharing(fwd)},
		{"delta backward: fast-math textbook ÷ Go", always(2), r.against(bwd, named("C textbook, stored M ", fastFlags))},
		{"delta backward: best fast-math ÷ Go", always(0), r.against(bwd, named("C ", fastFlags))},
	}
	for _, rule := range rules[float32]()[1:] {
		for _, pass := range passNames {
			out = append(out, target{passOf(rule.name, pass) + ": share of the peak ÷ delta's", always(sameShare), r.likeDelta(rule.name, pass)})
		}
	}
	out = append(out, r.chunkTargets()...)
	for _, p := range products[float32]() {
		out = append(out, target{p.name + ": OpenBLAS ÷ Go", always(1), r.against(p.name, named(openBLAS, ""))})
	}
	out = append(out, target{"delta forward: 1 thread ÷ 2 threads", wider(1.5, 1.7), r.doubled(fwd)},
		target{"delta backward: 1 thread ÷ 2 threads", wider(1.25, 1.7), r.doubled(bwd)})
	for _, p := range products[float32]() {
		out = append(out, target{p.name + ": 1 thread ÷ 2 threads", wider(0, 1.7), r.doubled(p.name)})
	}
	return out
}

// sameShare is how near to the delta rule's share of the peak counts as the
// same: within what a ratio in one column moves between runs.
const sameShare = 0.9

// verdicts prints the targets.
func (r *report) verdicts(b *strings.Builder) {
	fmt.Fprintf(b, "Targets, for the fastest level: %s of the recurrences, %s of the products. In brackets what is asked.\n\n",
		r.fast(passOf(deltaRule, forward)), r.fast(products[float32]()[0].name))
	header(b, "target")
	for _, t := range r.targets() {
		b.WriteString("| " + t.what + " |")
		for _, d := range widths {
			found, with := t.of(d)
			fmt.Fprintf(b, " %s |", verdict(found, t.floor(d), with))
		}
		b.WriteString("\n")
	}
	if found := r.gain(); found != 0 {
		fmt.Fprintf(b, "\nBuilding %s: %s times the tokens per second of the portable level [4]: %s.\n", modelName, figures(found), met(found, 4))
	}
	b.WriteString("\n")
}

// verdict is a cell: the figure, the target, and with which variant.
func verdict(found, floor float64, with string) string {
	if found == 0 {
		return "–"
	}
	text := figures(found)
	if floor > 0 {
		text = fmt.Sprintf("%s [%s] %s", text, figures(floor), met(found, floor))
	}
	if with = shortened(with); with != "" {
		text += " (" + with + ")"
	}
	return text
}

// shortened is the part of a variant's name that tells which of several it is.
func shortened(v string) string {
	v = strings.TrimPrefix(strings.TrimPrefix(v, "C "), openBLAS)
	v, _, _ = strings.Cut(v, " -")
	v, _, _ = strings.Cut(v, ", A")
	return v
}

func met(found, floor float64) string {
	if found >= floor {
		return "met"
	}
	return "**not met**"
}

// gain is how many times as fast as at the portable level the model is built.
func (r *report) gain() float64 {
	portable, fast := level{cpu.Portable}.variant(), fastest(r.core.variants(modelStep))
	if !r.model || fast == portable {
		return 0
	}
	return quotient(r.building(portable), r.building(fast)).of
}
