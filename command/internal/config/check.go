package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/nl-hecate/hecate/runtime/formula"
	"github.com/nl-hecate/hecate/runtime/pulse"
)

// A World lists the names that the program knows. A nil list is not checked.
type World struct {
	Models  []string // that have all their parts
	Updates []string
	Buffers []string
	// Formula says what is wrong with the formula of a model: a *formula.Error.
	Formula func(text string) error
}

// maxItems bounds the lists whose items are checked.
const maxItems = pulse.MaxLevels

// check compares keys with each other and with the world.
func (d *decoder) check(w World) {
	if w.Formula != nil && d.Model.Formula != "" {
		d.formula(w.Formula(d.Model.Formula))
	}
	d.known("update.name", d.Update.Name, "update", w.Updates)
	d.known("update.buffer", d.Update.Buffer, "buffer", w.Buffers)
	d.periods()
	if at, ok := d.places["build.steps"]; ok && d.Build.Steps > 0 && d.Build.Tokens > 0 {
		d.fail(at, "build.steps and build.tokens are both given", "keep one of them")
	}
	for _, x := range []struct {
		key       string
		given     bool
		kind, why string
		needs     string
	}{
		{"stream.tokenizer", d.Stream.Tokenizer != "" && d.Stream.Kind != "tokens", "text", "a tokenizer", "hecate tokenize makes one of a text, --set stream.tokenizer=FILE names it"},
		{"stream.path", len(d.Stream.Path) > 0 && d.Stream.Kind == "tokens", "tokens", "files of tokens", ""},
		{"stream.source", d.Stream.Source != "", "synthetic", "a source", ""},
	} {
		switch {
		case x.given && d.Stream.Kind != x.kind:
			d.fail(d.places[x.key], fmt.Sprintf("%s is given, but stream.kind is %q", x.key, d.Stream.Kind), fmt.Sprintf("only kind %q has %s", x.kind, x.why))
		case !x.given && d.Stream.Kind == x.kind && x.kind != "synthetic": // which has a default
			d.fail(d.places["stream.kind"], fmt.Sprintf("stream.kind is %q, which needs %s", x.kind, x.key), x.needs)
		}
	}
	if !IsDevice(d.Build.Device) {
		d.fail(d.places["build.device"], fmt.Sprintf("build.device is %q, must be cpu, cuda, cuda:N or auto", d.Build.Device), "hecate devices lists what there is")
	}
	if d.Build.From != "" && d.Build.Resume != "never" {
		d.fail(d.places["build.from"], fmt.Sprintf("build.from is given, but build.resume is %q", d.Build.Resume), "a build is either new or resumed")
	}
	for key, x := range map[string]string{"build.out": d.Build.Out, "build.resume": d.Build.Resume, "model.formula": d.Model.Formula, "update.name": d.Update.Name, "update.buffer": d.Update.Buffer} {
		if x == "" {
			d.fail(d.places[key], key+" is empty", "")
		}
	}
}

// GPU is the number of the GPU that a word of build.device names; ok is false for the processor. For auto it is 0.
func GPU(word string) (n int, ok bool) {
	name, number, _ := strings.Cut(word, ":")
	n, _ = strconv.Atoi(number) // "" is the first
	return n, name == "cuda" || name == "auto"
}

// IsDevice reports whether a word is one of build.device.
func IsDevice(word string) bool { return devices.MatchString(word) }

var devices = regexp.MustCompile(`^(auto|cpu|cuda(:\d{1,3})?)$`)

// known compares a name with the known ones.
func (d *decoder) known(key, name, what string, list []string) {
	if list != nil && name != "" && !slices.Contains(list, name) {
		d.fail(d.places[key], fmt.Sprintf("there is no %s %q", what, name), didYouMean(name, list, "there are "))
	}
}

// formula reports the error of a formula at its symbol.
func (d *decoder) formula(err error) {
	const key = "model.formula"
	var e *formula.Error
	switch whole := d.Model.Formula; {
	case err == nil:
	case errors.As(err, &e) && e.Text == whole:
		d.problems = append(d.problems, d.within(key, whole, e.At, symbol(whole[e.At:]), e.Msg, e.Hint))
	case e != nil:
		d.fail(d.places[key], e.Msg, e.Hint)
	default:
		d.fail(d.places[key], err.Error(), "")
	}
}

// symbol is the length in characters of the first symbol of a text.
func symbol(text string) (n int) {
	for _, r := range text {
		if r != '_' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		n++
	}
	return n
}

// periods looks for the first level whose period does not fit.
func (d *decoder) periods() {
	const key = "levels.periods"
	p := d.Levels.Periods
	for n := 1; n <= min(len(p), maxItems+1); n++ {
		err := pulse.CheckPeriods(p[:n])
		if err == nil {
			continue
		}
		at, ok := d.places[fmt.Sprintf("%s.%d", key, n-1)]
		if !ok {
			at = d.places[key]
		}
		d.fail(at, key+": "+strings.TrimPrefix(err.Error(), "pulse: "), "each period is a multiple of the one before, and the first is 1")
		return
	}
}
