package emitgo

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/emitgo/gotext"
)

// registered prints what a catalog makes of an update: the type Update with
// its settings, and what it keeps for a parameter. An update of matrices has
// the one of entries that follows it.
func (e *unitEmitter) registered() string {
	var b strings.Builder
	name, other := e.u.Name, ""
	if e.u.Else != nil {
		other = e.otherPackage(e.u.Else.Unit)
	}
	fmt.Fprintf(&b, "// Update is %s with its settings.\ntype Update[F num.Float] struct {\n\tNow Settings\n", name)
	if other != "" {
		fmt.Fprintf(&b, "\tElse *%s.Update[F] // moves what is no matrix, or is said to be moved entrywise\n", other)
	}
	fmt.Fprintf(&b, "}\n\n// New returns %s with the settings of its page.\nfunc New[F num.Float]() *Update[F] {\n", name)
	if other == "" {
		b.WriteString("\treturn &Update[F]{Defaults()}\n}\n\n")
	} else {
		fmt.Fprintf(&b, "\tu := &Update[F]{Defaults(), %s.New[F]()}\n", other)
		for _, s := range e.u.Else.Settings {
			fmt.Fprintf(&b, "\tu.Else.Now.%s = %v\n", settingField(s.Name), s.Value)
		}
		b.WriteString("\treturn u\n}\n\n")
	}
	fmt.Fprintf(&b, "// Name is the name of the page.\nfunc (u *Update[F]) Name() string { return %q }\n\n", name)
	b.WriteString("// Settings calls f for every setting.\nfunc (u *Update[F]) Settings(f func(name string, x float64)) {\n\tu.Now.Each(f)\n")
	if other != "" {
		b.WriteString("\tu.Else.Settings(func(name string, x float64) { f(\"else.\"+name, x) })\n")
	}
	b.WriteString("}\n\n// Set changes a setting by its name.\nfunc (u *Update[F]) Set(name string, x float64) error {\n")
	if other != "" {
		b.WriteString("\tif rest, ok := strings.CutPrefix(name, \"else.\"); ok {\n\t\treturn u.Else.Set(rest, x)\n\t}\n")
	}
	b.WriteString("\treturn u.Now.Set(name, x)\n}\n\n")
	b.WriteString(e.moved(other))
	fmt.Fprintf(&b, "\n// Entry is what a catalog knows of %s.\nfunc Entry() catalog.Entry {\n\treturn catalog.Update(%q, %q, %v, func() update.Update[float32] { return New[float32]() }, func() update.Update[float64] { return New[float64]() })\n}\n",
		name, name, e.u.Hash, e.u.Collects())
	return b.String()
}

// moved prints what an update keeps for one parameter.
func (e *unitEmitter) moved(other string) string {
	var b strings.Builder
	_, _, flag := e.settingsOf()
	fields, values, call := "\tu *Update[F]\n", "u, ", "r, m.u.Now, n"
	if flag != "" {
		fields, values, call = fields+"\tnodecay bool\n", values+"p.NoDecay, ", call+", m.nodecay"
	}
	if e.u.Matrix != nil {
		fields, values, call = fields+"\trows, cols int\n", values+"p.Shape[0], p.Shape[1], ", call+", m.rows, m.cols"
	}
	fmt.Fprintf(&b, "// Slots makes what %s keeps for a parameter.\nfunc (u *Update[F]) Slots(p context.Param) update.Slots[F] {\n", e.u.Name)
	if other != "" {
		b.WriteString("\tif len(p.Shape) != 2 || p.Entrywise {\n\t\treturn u.Else.Slots(p)\n\t}\n")
	}
	fmt.Fprintf(&b, "\tn := 1\n\tfor _, d := range p.Shape {\n\t\tn *= d\n\t}\n\treturn &moved[F]{%sNewSlots[F](n)}\n}\n\n", values)
	fmt.Fprintf(&b, "// moved is a parameter under %s.\ntype moved[F num.Float] struct {\n%s\tSlots[F]\n}\n\n", e.u.Name, fields)
	b.WriteString("// By is the name of the page.\nfunc (m *moved[F]) By() string { return m.u.Name() }\n\n")
	fmt.Fprintf(&b, "// Step moves the parameter.\nfunc (m *moved[F]) Step(r *tape.Run[F], n int, w, g []F) {\n\tApply(%s, w, g, m.Slots)\n}\n", call)
	if e.u.Entrywise {
		same, slots := "m.u, ", []string{}
		if flag != "" {
			same += "m.nodecay, "
		}
		for _, s := range e.u.States {
			name := gotext.Identifier(s.Name, true)
			slots = append(slots, fmt.Sprintf("%s: m.%s[:n]", name, name))
		}
		b.WriteString("\n// Over is what moves n entries of parameters that lie one after another, and so do their slots, from this one's on.\n")
		fmt.Fprintf(&b, "func (m *moved[F]) Over(n int) update.Slots[F] {\n\treturn &moved[F]{%sSlots[F]{%s}}\n}\n", same, strings.Join(slots, ", "))
	}
	return b.String()
}

// otherPackage is the name of the package of an update.
func (e *unitEmitter) otherPackage(name string) string {
	_, pkg := Package(e.units.of(name))
	return pkg
}
