package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/units"
)

// PageName is what an option is called on the page that declares it.
func (o *Option) PageName() string {
	name := o.Name
	for !units.HasOption(o.Unit, name) {
		short, cut := strings.CutSuffix(name, "_"+o.Unit.Name.Text)
		if !cut {
			break
		}
		name = short
	}
	return name
}

// whose tells who set an option by a name that two knobs use how to say which
// of them is meant.
func (in *instancer) whose(d *diag.Diagnostic, name string) *diag.Diagnostic {
	var say []string
	for _, at := range slices.Sorted(maps.Keys(in.b.Options)) {
		if o := in.b.Options[at]; at != name && o.PageName() == name {
			say = append(say, o.Unit.Name.Text+"("+name+" = …)")
			d.See(o.Decl.Span, "%s has an option %s", o.Unit.Name.Text, name)
		}
	}
	if len(say) > 0 {
		d.Hint("say whose: %s", strings.Join(say, " or "))
	}
	return d
}
