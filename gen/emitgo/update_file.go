package emitgo

import (
	"fmt"
	"math"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitgo/gokernel"
	"github.com/nl-hecate/hecate/gen/emitgo/gotext"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// update prints an update: its settings with their defaults, its slots, Apply,
// which changes one parameter in place, and Update, which the registry knows by
// name. An update of matrices whose iterations hold for the transpose has a
// second kernel, for more rows than columns, in a file of its own.
func (e *unitEmitter) update() {
	_, pkg := Package(e.u)
	kind := ""
	for i, st := range e.u.Stages {
		f, name := e.newFile(), e.u.FileOf(i, pkg)
		if i == 0 {
			f.PackageComment(fmt.Sprintf("// Package %s is %s as its page says it.\n%s", pkg, e.u.Name, strings.TrimRight(e.header(), "\n")))
		}
		n := gokernel.Print(f, st.Fwd, st.Name)
		kind += nodeKind(gotext.LowerFirst(st.Name) + "Kind")
		if i == 0 {
			f.Add(gotext.Code(e.settings()))
			f.Add(gotext.Code(e.slots()))
			f.Add(gotext.Code(e.apply()))
		}
		f.Add(gotext.Code(e.run(&st, n)))
		e.write(name+".go", f)
		if st.Fwd.Fused != nil {
			fused := e.newFile()
			gokernel.PrintFused(fused, st.Fwd, n)
			e.write(name+"_fused.go", fused)
		}
	}
	f := e.newFile()
	f.Add(gotext.Code(kind))
	f.Add(e.packages.Code(e.registered()))
	e.write("update.go", f)
}

// clocks and settings are the constants of an update: those with a default are
// settings, a number without one is the clock, a truth value an attribute.
func (e *unitEmitter) settingsOf() (settings []abi.Value, clock, flag string) {
	for _, c := range e.u.Consts {
		switch {
		case c.Elem == ir.Bool:
			flag = c.Name
		case c.HasSetting:
			settings = append(settings, c)
		default:
			clock = c.Name
		}
	}
	return settings, clock, flag
}

func (e *unitEmitter) settings() string {
	var b, set, each strings.Builder
	settings, _, _ := e.settingsOf()
	fmt.Fprintf(&b, "// Settings are the options of %s.\ntype Settings struct {\n", e.u.Name)
	var defaults, names []string
	for _, s := range settings {
		field, inside, says := settingField(s.Name), "true", "a number"
		if d := s.Domain; d != nil {
			inside, says = within(d, "x"), d.Text
		}
		fmt.Fprintf(&b, "\t%s float64 // %s, %s\n", field, s.Name, says)
		defaults = append(defaults, fmt.Sprintf("%s: %v", field, s.Setting))
		names = append(names, fmt.Sprintf("%q", s.Name))
		fmt.Fprintf(&set, "\tcase %q:\n\t\treturn update.Set(&z.%s, name, x, %s, %q)\n", s.Name, field, inside, says)
		fmt.Fprintf(&each, "\tf(%q, z.%s)\n", s.Name, field)
	}
	fmt.Fprintf(&b, "}\n\n// Defaults are the options as the page gives them.\nfunc Defaults() Settings {\n\treturn Settings{%s}\n}\n\n", strings.Join(defaults, ", "))
	fmt.Fprintf(&b, "// Set changes an option by its name; the error says which there are, or where it\n// may lie.\nfunc (z *Settings) Set(name string, x float64) error {\n\tswitch name {\n%s\t}\n\treturn update.Unknown(%s)\n}\n\n",
		set.String(), strings.Join(append([]string{"name"}, names...), ", "))
	fmt.Fprintf(&b, "// Each calls f for every option.\nfunc (z Settings) Each(f func(name string, x float64)) {\n%s}\n", each.String())
	return b.String()
}

// within is the Go of a number's lying in a domain; none holds for NaN.
func within(d *abi.Domain, x string) string {
	var out []string
	if !math.IsInf(d.Lo, 0) {
		out = append(out, fmt.Sprintf("%s %s %v", x, map[bool]string{false: ">=", true: ">"}[d.LoOpen], d.Lo))
	}
	if !math.IsInf(d.Hi, 0) {
		out = append(out, fmt.Sprintf("%s %s %v", x, map[bool]string{false: "<=", true: "<"}[d.HiOpen], d.Hi))
	}
	if d.Whole {
		out = append(out, fmt.Sprintf("%s == math.Trunc(%s)", x, x))
	}
	if out == nil {
		return "true"
	}
	return strings.Join(out, " && ")
}

// settingField spells initialisms as Go does.
func settingField(name string) string {
	if len(name) == 2 {
		return strings.ToUpper(name)
	}
	return gotext.Identifier(name, true)
}

func (e *unitEmitter) slots() string {
	var b strings.Builder
	var names []string
	for _, s := range e.u.States {
		names = append(names, gotext.Identifier(s.Name, true))
	}
	fields := ""
	if len(names) > 0 {
		fields = " " + strings.Join(names, ", ") + " []F "
	}
	fmt.Fprintf(&b, "// Slots are what %s keeps of one parameter, as long as it.\ntype Slots[F num.Float] struct{%s}\n\n", e.u.Name, fields)
	b.WriteString("// NewSlots makes the slots of a parameter of n entries, all zero.\nfunc NewSlots[F num.Float](n int) Slots[F] {\n\treturn Slots[F]{")
	for i, n := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: tensor.Make[F](n)", n)
	}
	b.WriteString("}\n}\n\n// Each calls f for every slot.\nfunc (s Slots[F]) Each(f func(name string, data []F)) {\n")
	for i, n := range names {
		fmt.Fprintf(&b, "\tf(%q, s.%s)\n", e.u.States[i].Name, n)
	}
	b.WriteString("}\n\n// Move replaces every slot by what f returns for it: the same numbers in other memory.\nfunc (s *Slots[F]) Move(f func(data []F) []F) {\n")
	for _, n := range names {
		fmt.Fprintf(&b, "\ts.%s = f(s.%s)\n", n, n)
	}
	b.WriteString("}\n")
	return b.String()
}

// signature lists what Apply and the functions that it calls take, and call what
// they hand on.
func (e *unitEmitter) signature() (takes, hands string) {
	_, _, flag := e.settingsOf()
	takes, hands = "r *tape.Run[F], z Settings, n int", "r, z, n"
	if flag != "" {
		takes, hands = takes+", "+flag+" bool", hands+", "+flag
	}
	if e.u.Matrix != nil {
		takes, hands = takes+", rows, cols int", hands+", rows, cols"
	}
	return takes + ", w, g []F, s Slots[F]", hands + ", w, g, s"
}

// apply prints one step of one parameter.
func (e *unitEmitter) apply() string {
	var b strings.Builder
	_, _, flag := e.settingsOf()
	takes, hands := e.signature()
	doc := "Apply changes the parameter w by its gradient g, in place. n counts the updates of the parameter's level from 1"
	if flag != "" {
		doc += "; " + flag + " is the attribute of the parameter's declaration"
	}
	if e.u.Matrix != nil {
		doc += "; w has so many rows and columns"
	}
	doc += ". The gradient may lie in r's arena. It panics when the lengths differ."
	fmt.Fprintf(&b, "%sfunc Apply[F num.Float](%s) {\n\tif len(g) != len(w)", gotext.Comment(gotext.Wrap(doc, 76)), takes)
	if e.u.Matrix != nil {
		b.WriteString(" || rows*cols != len(w)")
	}
	for _, st := range e.u.States {
		fmt.Fprintf(&b, " || len(s.%s) != len(w)", gotext.Identifier(st.Name, true))
	}
	fmt.Fprintf(&b, " {\n\t\tpanic(%q)\n\t}\n", e.u.ID+": the gradient or a slot is not as long as the parameter")
	if len(e.u.Stages) > 1 {
		fmt.Fprintf(&b, "\tif rows > cols {\n\t\trun%s(%s)\n\t\treturn\n\t}\n", e.u.Stages[1].Name, hands)
	}
	fmt.Fprintf(&b, "\trun%s(%s)\n}\n\n", e.u.Stages[0].Name, hands)
	return b.String()
}

// run prints the call of a kernel: it writes into scratch, which then becomes
// the parameter and the slots, so no entry is read after it was written.
func (e *unitEmitter) run(st *abi.Stage, n *gokernel.Names) string {
	var b strings.Builder
	settings, clock, flag := e.settingsOf()
	takes, _ := e.signature()
	fmt.Fprintf(&b, "// run%s is a step by the kernel %s.\nfunc run%s[F num.Float](%s) {\n", st.Name, st.Name, st.Name, takes)
	fmt.Fprintf(&b, "\tk, arena := tape.Slot[F, %s[F]](r, %sKind), r.Arena\n\tmark := arena.Mark()\n", n.Type, gotext.LowerFirst(st.Name))
	for _, size := range st.Fwd.Sizes {
		fmt.Fprintf(&b, "\tk.%s = %s\n", n.Sizes[size], e.sizeOf(size))
	}
	value := map[string]string{clock: "F(n)"}
	for _, s := range settings {
		value[s.Name] = "F(z." + settingField(s.Name) + ")"
	}
	after := ""
	for _, buf := range st.Fwd.Params {
		f := n.Buffers[buf]
		target := "w"
		for _, st := range e.u.States {
			if st.Name == buf.Of {
				target = "s." + gotext.Identifier(st.Name, true)
			}
		}
		switch {
		case buf.Role == plan.Write:
			fmt.Fprintf(&b, "\tk.%s = arena.Scratch(len(w))\n", f)
			after += fmt.Sprintf("\tdevice.Copy(%s, k.%s)\n", target, f)
		case buf.Elem == ir.Bool:
			fmt.Fprintf(&b, "\tk.%s = arena.Flags(1)\n\tk.%s[0] = %s\n", f, f, flag)
		case value[buf.Of] != "":
			fmt.Fprintf(&b, "\tk.%s = arena.Scalar(%s)\n", f, value[buf.Of])
		case buf.Of == e.u.Inputs[0].Name:
			fmt.Fprintf(&b, "\tk.%s = g\n", f)
		default:
			fmt.Fprintf(&b, "\tk.%s = %s\n", f, target)
		}
	}
	workspace(&b, n, "k", "arena")
	b.WriteString("\tk.Run()\n" + after + "\tarena.Release(mark)\n}\n")
	return b.String()
}

// sizeOf is a size of an update's kernel.
func (e *unitEmitter) sizeOf(size string) string {
	if m := e.u.Matrix; m != nil {
		return map[string]string{m[0]: "rows", m[1]: "cols"}[size]
	}
	return "len(w)"
}
