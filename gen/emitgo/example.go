package emitgo

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitgo/gotext"
)

// exampleTokens and exampleWidth are the call of an example; sizes that nothing gives
// are exampleSize.
const (
	exampleTokens = 5
	exampleWidth  = 4
	exampleSize   = 2
)

// example prints how a program calls a rule, in the package's documentation: parameters,
// context memory, a call on a tape, and the way back.
func (t *unitTest) example() {
	path, pkg := Package(t.u)
	own := t.u.Home.Import(path)
	all := t.packages.With(gotext.Imports{pkg: own})
	f := all.NewFile(own+"_test", pkg+"_test", t.u.Page)
	f.Add(all.Code(t.exampleText(pkg)))
	t.write("example_test.go", f)
}

func (t *unitTest) exampleText(pkg string) string {
	var b strings.Builder
	var sizes []string
	fixed := t.fixedSizes()
	for _, z := range t.free() {
		if _, decided := fixed[z.Name]; !decided && z.Default < 0 {
			sizes = append(sizes, fmt.Sprintf("%q: %d", z.Name, exampleSize))
		}
	}
	width := exampleWidth
	for _, z := range t.free() {
		for _, x := range fixed {
			if x.by == z.Name && z.Default > 0 {
				width = x.times * z.Default * exampleSize // what divides the width
			}
		}
	}
	in := t.u.Inputs[0].Name
	n := exampleTokens * width
	fmt.Fprintf(&b, `// Example reads %d tokens in a new context, and goes back from an adjoint of the answers
// to the gradients of the parameters.
func Example() {
	b := %s.New[float32](block.NewSizes(map[string]int{%s}), %d)
	var params context.ParamSet[float32]
	if err := b.Declare(&params, ""); err != nil {
		panic(err)
	}
	params.Fill(1)
	memory := b.NewMemory(1)
	%s := make([]float32, %d)
	for i := range %s {
		%s[i] = float32(i%%3) - 1
	}
	now := pulse.First(pulse.Build)
	var arena tape.Arena[float32]
	err := tape.With(&arena, now, func(r *tape.Run[float32]) error {
		y, err := b.Step(block.Call[float32]{Run: r, Pulse: now, Batch: 1, Tokens: %d}, block.Bind(r, params.View()), memory, r.Input(%s))
		if err != nil {
			return err
		}
		adjoint := make([]float32, len(y.Data))
		for i := range adjoint {
			adjoint[i] = 1
		}
		r.Tape.Seed(y, adjoint)
		r.Tape.Reverse()
		fmt.Println(b.Name(), "answers with", len(y.Data), "numbers")
		return nil
	})
	if err != nil {
		panic(err)
	}
	memory.Keep() // the next call goes on from here
	// Output: %s answers with %d numbers
}
`, exampleTokens, pkg, strings.Join(sizes, ", "), width, in, n, in, in, exampleTokens, in, t.u.Name, n)
	return b.String()
}

// exemplary reports whether a unit is called in the way of the example: one input, no
// part, and an import path that is known.
func exemplary(u *abi.Unit) bool {
	return u.Kind == abi.RuleUnit && !u.Alone() && len(u.Parts) == 0 && len(u.Inputs) == 1
}
