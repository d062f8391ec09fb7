package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/runtime/pulse"
)

// A World is what the program knows by name. A nil list is not compared.
type World struct {
	Models  []string
	Updates []string
	Rules   []string
}

// check holds keys to each other and to the world.
func (d *decoder) check(w World) {
	d.formula(w)
	d.known("update.name", d.Update.Name, "update", w.Updates)
	for i, l := range d.Levels {
		if l.Rule != "" {
			d.known(fmt.Sprintf("level.%d.rule", i), l.Rule, "rule", w.Rules)
		}
	}
	if _, err := d.periods(); err != nil {
		d.problems = append(d.problems, *err)
	}
	if at, ok := d.places["build.steps"]; ok && d.Build.Tokens > 0 {
		d.fail(at, "build.steps and build.tokens are both given", "keep one of them")
	}
	for _, x := range []struct {
		key       string
		given     bool
		kind, why string
	}{
		{"stream.tokenizer", d.Stream.Tokenizer != "" && d.Stream.Kind != "tokens", "text", "a tokenizer"},
		{"stream.path", len(d.Stream.Path) > 0 && d.Stream.Kind == "tokens", "tokens", "files of tokens"},
		{"stream.source", d.Stream.Source != "", "synthetic", "a source"},
	} {
		switch {
		case x.given && d.Stream.Kind != x.kind:
			d.fail(d.places[x.key], fmt.Sprintf("%s is given, but stream.kind is %q", x.key, d.Stream.Kind), fmt.Sprintf("only kind %q has %s", x.kind, x.why))
		case !x.given && d.Stream.Kind == x.kind:
			d.fail(d.places["stream.kind"], fmt.Sprintf("stream.kind is %q, which needs %s", x.kind, x.key), "")
		}
	}
	if d.Build.From != "" && d.Build.Resume != "never" {
		d.fail(d.places["build.from"], fmt.Sprintf("build.from is given, but build.resume is %q", d.Build.Resume), "a build is new or goes on, not both")
	}
	for key, x := range map[string]string{"build.out": d.Build.Out, "build.resume": d.Build.Resume, "model.formula": d.Model.Formula, "update.name": d.Update.Name} {
		if x == "" {
			d.fail(d.places[key], key+" is empty", "")
		}
	}
}

// known compares a name with those that there are.
func (d *decoder) known(key, name, what string, list []string) {
	if list != nil && name != "" && !slices.Contains(list, name) {
		d.fail(d.places[key], fmt.Sprintf("there is no %s %q", what, name), didYouMean(name, list, "there are "))
	}
}

// formula checks the name of a model, or the form of a formula.
func (d *decoder) formula(w World) {
	f := d.Model.Formula
	if !strings.ContainsAny(f, "(),") {
		d.known("model.formula", f, "model", w.Models)
		return
	}
	depth := 0
	for _, r := range f {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 {
			break
		}
	}
	if depth != 0 {
		d.fail(d.places["model.formula"], fmt.Sprintf("model.formula %q has parentheses that do not match", f), "")
	}
}

// Periods returns the period of every level in chunks. A valid configuration
// has periods that pulse.CheckPeriods accepts.
func (c *Config) Periods() []int {
	d := decoder{Loaded: Loaded{Config: *c}}
	p, _ := d.periods()
	return p
}

// periods turns all periods into chunks; the problem is that of the first level
// that does not fit.
func (d *decoder) periods() ([]int, *Problem) {
	if len(d.Levels) == 0 {
		return []int{1}, nil
	}
	var out []int
	for i, l := range d.Levels {
		key := fmt.Sprintf("level.%d.period", i)
		at := d.places[key]
		n := l.Period
		if l.Unit == "tokens" && d.Stream.Chunk > 0 {
			if n%d.Stream.Chunk != 0 {
				return out, &Problem{at, fmt.Sprintf("%s is %d tokens, no multiple of stream.chunk, which is %d", key, n, d.Stream.Chunk), ""}
			}
			n /= d.Stream.Chunk
		}
		out = append(out, n)
		if err := pulse.CheckPeriods(out); err != nil {
			return out, &Problem{at, key + ": " + strings.TrimPrefix(err.Error(), "pulse: "), "each period is a multiple of the one before, and the first is 1 chunk"}
		}
	}
	return out, nil
}
