package emitgo

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitgo/gotext"
)

// References is the name of the function of a unit's package that makes references of its kernels, by
// the names that they have in the archive of CUDA kernels: what a device computes is compared with them.
func References(u *abi.Unit) string {
	if u.Kind == abi.OpUnit {
		return u.Name + "References"
	}
	return "References"
}

// references prints it, if there are CUDA kernels.
func (e *unitEmitter) references() {
	var b strings.Builder
	for _, k := range e.u.Kernels() {
		if k.Archive != "" {
			fmt.Fprintf(&b, "\t\t%q: func() device.Reference { return device.Reference{Double: &%[2]s[float64]{}, Single: &%[2]s[float32]{}} },\n", k.Archive, k.Name)
		}
	}
	if b.Len() == 0 {
		return
	}
	name := References(e.u)
	f := e.newFile()
	f.Add(e.packages.Code(fmt.Sprintf("%sfunc %s() device.References {\n\treturn device.References{\n%s\t}\n}\n",
		gotext.Comment(fmt.Sprintf("%s makes references of the kernels of %s.", name, e.u.Name)), name, b.String())))
	file := "references.go"
	if e.u.Kind == abi.OpUnit {
		file = e.u.ID + "_references.go"
	}
	e.write(file, f)
}
