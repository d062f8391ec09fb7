package emitgo

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// update prints an update: its settings with their defaults, its slots, and
// Apply, which changes one parameter in place.
func (e *unitEmitter) update() {
	f := e.newFile()
	_, pkg := Package(e.u)
	f.PackageComment(fmt.Sprintf("// Package %s is %s as its page says it.\n%s", pkg, e.u.Name, strings.TrimRight(e.header(), "\n")))
	k := e.u.Stages[0].Fwd
	n := Kernel(f, k, k.Name)
	f.Add(raw(fmt.Sprintf("const %sKind tape.Kind = %d\n", lowerFirst(k.Name), e.nextKind())))
	f.Add(raw(e.settings(k)))
	f.Add(raw(e.slots()))
	f.Add(raw(e.apply(k, n)))
	e.write(pkg+".go", f)
	if k.Fused != nil {
		fused := e.newFile()
		Fused(fused, k, n)
		e.write(pkg+"_fused.go", fused)
	}
}

// clocks and settings are the constants of an update: those with a default are
// settings, a number without one is the clock, a truth value an attribute.
func (e *unitEmitter) settingsOf() (settings []plan.Value, clock, flag string) {
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

func (e *unitEmitter) settings(k *plan.Kernel) string {
	var b strings.Builder
	settings, _, _ := e.settingsOf()
	fmt.Fprintf(&b, "// Settings are the options of %s.\ntype Settings struct {\n", e.u.Name)
	for _, s := range settings {
		fmt.Fprintf(&b, "\t%s float64 // %s\n", settingField(s.Name), s.Name)
	}
	b.WriteString("}\n\n// Defaults are the options as the page gives them.\nfunc Defaults() Settings {\n\treturn Settings{")
	for i, s := range settings {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: %v", settingField(s.Name), s.Setting)
	}
	b.WriteString("}\n}\n")
	return b.String()
}

// settingField spells initialisms as Go does.
func settingField(name string) string {
	if len(name) == 2 {
		return strings.ToUpper(name)
	}
	return identifier(name, true)
}

func (e *unitEmitter) slots() string {
	var b strings.Builder
	var names []string
	for _, s := range e.u.States {
		names = append(names, identifier(s.Name, true))
	}
	fmt.Fprintf(&b, "// Slots are what %s keeps of one parameter, as long as it.\ntype Slots[F num.Float] struct{ %s []F }\n\n", e.u.Name, strings.Join(names, ", "))
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
	b.WriteString("}\n")
	return b.String()
}

// apply prints one fire: the kernel writes into scratch, which then becomes the
// parameter and the slots, so no entry is read after it was written.
func (e *unitEmitter) apply(k *plan.Kernel, n *KernelNames) string {
	var b strings.Builder
	settings, clock, flag := e.settingsOf()
	fmt.Fprintf(&b, "// Apply changes the parameter w by its gradient g, in place. n counts the fires\n// of the parameter's level from 1; %s is the attribute of the parameter's\n// declaration. The gradient may lie in r's arena. It panics when the lengths\n// differ.\n", flag)
	fmt.Fprintf(&b, "func Apply[F num.Float](r *tape.Run[F], z Settings, n int, %s bool, w, g []F, s Slots[F]) {\n", flag)
	b.WriteString("\tif len(g) != len(w)")
	for _, st := range e.u.States {
		fmt.Fprintf(&b, " || len(s.%s) != len(w)", identifier(st.Name, true))
	}
	fmt.Fprintf(&b, " {\n\t\tpanic(%q)\n\t}\n", e.u.ID+": the gradient or a slot is not as long as the parameter")
	fmt.Fprintf(&b, "\tk, arena := tape.Slot[F, %s[F]](r, %sKind), r.Arena\n\tmark := arena.Mark()\n", n.Type, lowerFirst(k.Name))
	for _, size := range k.Sizes {
		fmt.Fprintf(&b, "\tk.%s = len(w)\n", n.Sizes[size])
	}
	value := map[string]string{clock: "F(n)"}
	for _, s := range settings {
		value[s.Name] = "F(z." + settingField(s.Name) + ")"
	}
	after := ""
	for _, buf := range k.Params {
		f := n.Buffers[buf]
		target := "w"
		for _, st := range e.u.States {
			if st.Name == buf.Of {
				target = "s." + identifier(st.Name, true)
			}
		}
		switch {
		case buf.Role == plan.Write:
			fmt.Fprintf(&b, "\tk.%s = arena.Scratch(len(w))\n", f)
			after += fmt.Sprintf("\tcopy(%s, k.%s)\n", target, f)
		case buf.Elem == ir.Bool:
			fmt.Fprintf(&b, "\tk.%s = arena.Flags(1)\n\tk.%s[0] = %s\n", f, f, flag)
		case value[buf.Of] != "":
			fmt.Fprintf(&b, "\tk.%s = arena.Scratch(1)\n\tk.%s[0] = %s\n", f, f, value[buf.Of])
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
