package emitcuda

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/ir"
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
	Of       string `json:"of,omitempty"` // the plan's name, of parameters and results; of an operand, the name of its source
	Role     string `json:"role"`
	Type     string `json:"type"`
	Length   string `json:"length"`
	Optional bool   `json:"optional,omitempty"`
	*domainRow
}

// A domainRow is where the page lets the entries of a parameter lie.
type domainRow struct {
	From  *float64 `json:"from,omitempty"` // real numbers
	To    *float64 `json:"to,omitempty"`
	Value *float64 `json:"value,omitempty"` // of a setting: the page's
	Init  *float64 `json:"init,omitempty"`  // of a weight: its first value
	First string   `json:"first,omitempty"` // whole numbers
	Last  string   `json:"last,omitempty"`
	Extra []int    `json:"extra,omitempty"` // and further ones
	Rows  string   `json:"rows,omitempty"`  // unit or distribution,
	Row   string   `json:"row,omitempty"`   // of so many entries each
	Clock bool     `json:"clock,omitempty"` // counts steps from 1
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
	if n, ok := x.Defaults[BFloat16]; ok {
		r.Constants[bfloat16Name] = n
	}
	for _, q := range x.ceils {
		r.Quotients = append(r.Quotients, quotientRow{x.names[q.Name], c.poly(q.Num), c.poly(q.Den)})
	}
	for _, b := range x.Buffers {
		row := bufferRow{Name: b.Name, Role: "work", Type: b.typeName(), Length: c.poly(b.Len)}
		if b.Of != nil {
			row.Role, row.Optional = b.Of.Role.String(), b.Of.Optional
			switch {
			case isOperand(b.Of):
				row.Of = x.nameOf(b.Of.NarrowOf.Base())
			case b.Of.Role != plan.Work:
				row.Of = b.Of.Name
			}
			if b.Of.Role == plan.Read {
				row.domainRow = c.domainOf(u, b.Of.Of)
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

// domainOf is what a unit says of a parameter; nil for nothing.
func (c *cText) domainOf(u *abi.Unit, name string) *domainRow {
	ends := func(d *abi.Domain) *domainRow {
		if d == nil {
			return nil
		}
		r := &domainRow{}
		if !math.IsInf(d.Lo, 0) {
			r.From = &d.Lo
		}
		if !math.IsInf(d.Hi, 0) {
			r.To = &d.Hi
		}
		return r
	}
	for _, f := range u.Functions() {
		for _, v := range f.Results {
			if v.Name == name {
				return ends(v.Domain)
			}
		}
	}
	for _, s := range u.States {
		if s.Name == name && s.Rows != abi.AnyRows {
			return &domainRow{Rows: map[abi.RowSet]string{abi.UnitRows: "unit", abi.Distributions: "distribution"}[s.Rows], Row: c.poly(s.Dims[len(s.Dims)-1])}
		}
		if s.Name == name && s.Domain == nil && u.Kind == abi.UpdateUnit {
			return &domainRow{From: new(float64)} // it may be a sum of squares
		}
		if s.Name == name {
			return ends(s.Domain)
		}
	}
	for _, w := range u.Weights {
		if w.Name == name && len(w.Init.Levels) > 0 {
			return &domainRow{Init: &w.Init.Levels[0]}
		}
	}
	for _, v := range slices.Concat(u.Inputs, u.Consts) {
		switch {
		case v.Name != name:
		case v.HasRange:
			return &domainRow{First: c.poly(v.Lo), Last: c.poly(v.Hi), Extra: v.Extra}
		case v.HasSetting:
			return &domainRow{Value: &v.Setting}
		case u.Kind == abi.UpdateUnit && v.Elem == ir.Real && len(v.Dims) == 0:
			return &domainRow{Clock: true}
		default:
			return ends(v.Domain)
		}
	}
	return nil
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
			name := c.names[s]
			if name == "" { // of a domain that the text does not have
				name = s
			}
			parts = append(parts, name)
		}
		out = append(out, strings.Join(parts, "*"))
	}
	return strings.ReplaceAll(strings.Join(out, "+"), "+-", "-")
}
