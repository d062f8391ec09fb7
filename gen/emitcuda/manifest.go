package emitcuda

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// The manifest says to whoever launches kernels what the text cannot: which
// buffers there are and how long they are, which functions run in what order,
// with how many blocks. Numbers that depend on sizes are products and sums
// of them, in the text's own names, as C would have them.

// A kernelRow is a kernel of a plan.
type kernelRow struct {
	Unit      string         `json:"unit"`
	Page      string         `json:"page"`
	Kernel    string         `json:"kernel"`
	File      string         `json:"file"`
	Constants map[string]int `json:"constants"` // sizes of the model, with their defaults
	Open      []string       `json:"open"`      // sizes that are int parameters
	Sizes     []string       `json:"sizes"`     // all of them, in the order of the plan
	Quotients []quotientRow  `json:"quotients"` // sizes that are quotients rounded up
	Buffers   []bufferRow    `json:"buffers"`
	Functions []functionRow  `json:"functions"`
}

type quotientRow struct {
	Name        string `json:"name"`
	Numerator   string `json:"numerator"`
	Denominator string `json:"denominator"`
}

type bufferRow struct {
	Name     string `json:"name"`
	Of       string `json:"of,omitempty"` // the plan's name, of parameters and results
	Role     string `json:"role"`
	Type     string `json:"type"`
	Length   string `json:"length"`
	Optional bool   `json:"optional,omitempty"`
}

type functionRow struct {
	Name      string      `json:"name"`
	Equations []string    `json:"equations"`
	Mapping   string      `json:"mapping"`
	Grid      [][]gridRow `json:"grid"` // blocks: the sum of products of ⌈items/per⌉
	Block     int         `json:"block"`
	Static    int         `json:"static_shared"`
	Arrays    []arrayRow  `json:"arrays,omitempty"` // in dynamic shared memory, in order, each that still fits
	Arguments []string    `json:"arguments"`
}

type arrayRow struct {
	Name    string `json:"name"`
	Bytes   string `json:"bytes"`
	Scratch string `json:"scratch"` // the buffer that holds it where it does not fit
}

type gridRow struct {
	Items string `json:"items"`
	Per   int    `json:"per"`
}

// rowOf is the row of a printed kernel.
func rowOf(u *abi.Unit, x *Text, file string) kernelRow {
	r := kernelRow{Unit: folder(u), Page: u.Page, Kernel: x.Kernel.Name, File: file, Constants: map[string]int{}, Open: []string{}, Sizes: []string{}, Quotients: []quotientRow{}}
	c := &cText{names: x.names}
	for _, s := range x.Kernel.Sizes {
		r.Sizes = append(r.Sizes, x.names[s])
		if n, ok := x.Defaults[s]; ok {
			r.Constants[x.names[s]] = n
		} else {
			r.Open = append(r.Open, x.names[s])
		}
	}
	for _, q := range x.ceils {
		r.Quotients = append(r.Quotients, quotientRow{x.names[q.Name], c.poly(q.Num), c.poly(q.Den)})
	}
	for _, b := range x.Buffers {
		row := bufferRow{Name: b.Name, Role: "work", Type: language.Types[b.Elem], Length: c.poly(b.Len)}
		if b.Of != nil {
			row.Role, row.Optional = b.Of.Role.String(), b.Of.Optional
			if b.Of.Role != plan.Work {
				row.Of = b.Of.Name
			}
		}
		r.Buffers = append(r.Buffers, row)
	}
	for _, l := range x.Launches {
		f := functionRow{Name: l.Function, Equations: l.Equations, Mapping: l.Mapping, Grid: [][]gridRow{}, Block: l.Threads, Static: l.Static, Arguments: []string{}}
		for _, a := range l.Arrays {
			f.Arrays = append(f.Arrays, arrayRow{a.Name, c.poly(a.Bytes), a.Scratch})
		}
		for _, g := range l.Grid {
			product := []gridRow{}
			for _, x := range g {
				product = append(product, gridRow{c.poly(x.Items), x.Per})
			}
			f.Grid = append(f.Grid, product)
		}
		for _, a := range l.Args {
			f.Arguments = append(f.Arguments, a.Name)
		}
		r.Functions = append(r.Functions, f)
	}
	return r
}

// text is the row as JSON, one line for each buffer and function.
func (r kernelRow) text() string {
	var b bytes.Buffer
	buffers, functions := r.Buffers, r.Functions
	r.Buffers, r.Functions = nil, nil
	head := strings.TrimSuffix(line(r), `"buffers":null,"functions":null}`)
	fmt.Fprintf(&b, "%s\n  \"buffers\": [\n", head)
	list(&b, buffers)
	b.WriteString("  ],\n  \"functions\": [\n")
	list(&b, functions)
	b.WriteString("  ]}")
	return b.String()
}

func list[E any](b *bytes.Buffer, rows []E) {
	for i, r := range rows {
		b.WriteString("    " + line(r) + comma(i, len(rows)))
	}
}

func comma(i, n int) string {
	if i+1 < n {
		return ",\n"
	}
	return "\n"
}

func line(x any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(x); err != nil {
		panic("emitcuda: BUG: " + err.Error())
	}
	return strings.TrimSpace(b.String())
}

// A cText prints polynomials in the names of a text.
type cText struct{ names map[string]string }

func (c *cText) poly(p shape.Poly) string {
	if p.IsZero() {
		return "0"
	}
	one := big.NewInt(1)
	var out []string
	for _, m := range p.Monomials() {
		if !m.Coef.IsInt() {
			lcm := m.Coef.Denom().Int64()
			return fmt.Sprintf("(%s)/%d", c.poly(p.Mul(shape.Int(lcm))), lcm)
		}
		var parts []string
		if m.Coef.Num().Cmp(one) != 0 || len(m.Syms) == 0 {
			parts = append(parts, m.Coef.Num().String())
		}
		for _, s := range m.Syms {
			parts = append(parts, c.names[s])
		}
		out = append(out, strings.Join(parts, "*"))
	}
	return strings.ReplaceAll(strings.Join(out, "+"), "+-", "-")
}
