package emitgo

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
)

// How formulas know a unit: its entry in a catalog, with what a formula may put where
// and the constructor that is given the parts.

// pageKinds are the kinds of pages as formulas know them, and partKinds those of
// parts.
var pageKinds = map[abi.UnitKind]string{abi.RuleUnit: "formula.Rule", abi.ComposeUnit: "formula.Composition", abi.ModelUnit: "formula.Model"}
var partKinds = map[string]string{"Rule": "formula.Rule", "Composition": "formula.Composition", "Block": "formula.Block"}

// pageKind is the kind of a unit's page.
func pageKind(u *abi.Unit) string {
	if u.Schedule {
		return "formula.Schedule"
	}
	return pageKinds[u.Kind]
}

// entry prints the entry of a rule, composition or model.
func (e *unitEmitter) entry() string {
	kind, args := "Block", []string{"m.Sizes", "m.Width"}
	if e.u.Kind == abi.ModelUnit {
		kind, args = "Model", args[:1]
	}
	for _, p := range e.u.Parts {
		call := map[bool]string{false: "Part", true: "List"}[p.Count != ""]
		args = append(args, fmt.Sprintf("m.%s(%q)", call, p.Name))
	}
	operands := ""
	if names := e.u.Operands(); len(names) > 0 {
		operands = fmt.Sprintf(".\n\t\tWithOperands(%q)", strings.Join(names, ", "))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "// Entry is what a catalog knows of %s.\nfunc Entry() catalog.Entry {\n\treturn catalog.%s(%q, %q,\n\t\tformula.Page{Kind: %s%s},\n\t\tassemble[float32], assemble[float64])%s\n}\n\n",
		e.u.Name, kind, e.u.Name, e.u.Hash, pageKind(e.u), e.pageFields(), operands)
	fmt.Fprintf(&b, "func assemble[F num.Float](m catalog.Arguments[F]) block.%s[F] {\n\treturn New[F](%s)\n}\n", kind, strings.Join(args, ", "))
	return b.String()
}

// pageFields prints the parts and sizes that a formula may give.
func (e *unitEmitter) pageFields() string {
	fixed := e.fixedSizes()
	var parts, sizes []string
	for _, p := range e.u.Parts {
		more := ""
		if p.Count != "" {
			more += ", List: true"
		}
		if !e.u.Named(p) {
			more += ", Bare: true"
		}
		parts = append(parts, fmt.Sprintf("{Name: %q, Kind: %s%s}", p.Name, partKinds[p.Kind], more))
	}
	for _, z := range e.free() {
		if _, decided := fixed[z.Name]; z.Counts == "" && !decided {
			sizes = append(sizes, fmt.Sprintf("%q", z.Name))
		}
	}
	out := ""
	if e.u.Kind == abi.ModelUnit {
		out += fmt.Sprintf(", Width: %q", modelWidth(e.u))
	}
	if len(parts) > 0 {
		out += fmt.Sprintf(", Parts: []formula.Part{%s}", strings.Join(parts, ", "))
	}
	if len(sizes) > 0 {
		out += fmt.Sprintf(", Sizes: []string{%s}", strings.Join(sizes, ", "))
	}
	return out
}
