package emitgo

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitgo/gotext"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A function is what the front of a rule computes for the kernels of the rule: keys,
// queries, values and gates. It has a package of its own that rules share:
//
//	type Function[F] struct { Sizes Sizes; Slots [2]int }
//	func (b *Function[F]) Call(c, w, m, x) (k, v, …, err)
//
// A call is a node of the tape, as a stage of a composition is, so its backward runs
// after that of the rule's kernel. Parameters and memory are the rule's: the function
// finds parameters by their names, and the windows of its convolutions in the slots of
// the memory that the rule tells it.

// function prints the package of a function.
func (e *unitEmitter) function() {
	f := e.newFile()
	_, pkg := Package(e.u)
	f.PackageComment(fmt.Sprintf("// Package %s is a function of %s, as its page says it: what the front computes for the kernels\n// of a rule.\n%s", pkg, e.u.Name, strings.TrimRight(e.header(), "\n")))
	f.Add(gotext.Code(e.sizesType("Sizes", false)))
	f.Add(gotext.Code(e.functionType()))
	e.write(pkg+".go", f)

	st := &e.u.Stages[0]
	f = e.newFile()
	f.Add(gotext.Code(nodeKind("callKind")))
	s := &stageEmitter{u: e.u, file: f, fused: e.newFile(), recv: e.typeName(), fn: "Call", node: "callNode", kind: "callKind",
		fwd: st.Fwd, bwd: st.Bwd, needs: st.Needs, sizeOf: blockSize, checked: true}
	s.emit()
	e.write(strings.ToLower(st.Name)+".go", f)
	e.writeFused(strings.ToLower(st.Name), s)
}

func (e *unitEmitter) functionType() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// Function is %s with its sizes.\ntype Function[F num.Float] struct {\n\tSizes Sizes\n", e.u.Name)
	if n := len(e.u.States); n > 0 {
		var names []string
		for _, s := range e.u.States {
			names = append(names, s.Name)
		}
		fmt.Fprintf(&b, "\tSlots [%d]int // of %s in the memory of the caller\n", n, strings.Join(names, ", "))
	}
	b.WriteString("}\n")
	return b.String()
}

// slot is the index of state i in the memory of a call, as Go text.
func (s *stageEmitter) slot(i int) string {
	if s.u.Kind == abi.FunctionUnit {
		return fmt.Sprintf("b.Slots[%d]", i)
	}
	return fmt.Sprint(i)
}

// functionPackage is the name under which the package of a unit imports that of a
// function which one of its methods calls.
func functionPackage(method string) string {
	if method == "Read" {
		return "readfront"
	}
	return "front"
}

// importFunctions names the packages of the functions that a unit calls.
func (e *unitEmitter) importFunctions() {
	for _, st := range e.u.Stages {
		for method, p := range map[string]abi.Pair{"Step": st.Pair, "Read": st.Frozen} {
			if p.Function != nil {
				path, _ := Package(p.Function)
				e.functions[functionPackage(method)] = e.u.Home.Import(path)
			}
		}
	}
	if e.functions["front"] != "" && e.functions["front"] == e.functions["readfront"] {
		delete(e.functions, "readfront")
	}
	e.packages = e.packages.With(e.functions)
}

// functionKernels names the kernels of the functions that a unit calls: with its own they
// are all that the unit computes.
func (e *unitEmitter) functionKernels() string {
	var b strings.Builder
	for _, st := range e.u.Stages {
		for _, call := range []struct {
			method string
			pair   abi.Pair
		}{{"Step", st.Pair}, {"Read", st.Frozen}} {
			if call.pair.Function == nil {
				continue
			}
			of := call.pair.Function.Stages[0].Pair
			fmt.Fprintf(&b, "// %sFront is the forward kernel of the function that %[1]s calls.\ntype %[1]sFront[F num.Float] = %[2]s.%[3]s[F]\n\n", call.method, e.functionName(call.method), of.Fwd.Name)
			if of.Bwd != nil {
				fmt.Fprintf(&b, "// %sFrontBackward is the backward kernel of the function that %[1]s calls.\ntype %[1]sFrontBackward[F num.Float] = %[2]s.%[3]s[F]\n\n", call.method, e.functionName(call.method), of.Bwd.Name)
			}
		}
	}
	return b.String()
}

// functionName is the name of the imported package of the function that a method calls.
func (e *unitEmitter) functionName(method string) string {
	if pkg := functionPackage(method); e.functions[pkg] != "" {
		return pkg
	}
	return functionPackage("Step") // both call the same
}

// functionCall prints the call of the function that computes what a kernel of the unit
// reads. The function checks nothing, so what the call is given is checked here, under
// the name of the unit.
func (e *unitEmitter) functionCall(b *strings.Builder, f *abi.Unit, method string) {
	fmt.Fprintf(b, "\tif err = c.Check(%q, m); err != nil {\n\t\treturn\n\t}\n", e.u.Name)
	for _, in := range e.u.Inputs {
		n := shape.Sym("L")
		for _, d := range in.Dims {
			n = n.Mul(d)
		}
		lengthCheck(b, e.u.Name, in.Name, argName(in.Name)+".Data", gotext.SizeText(n, blockSize))
	}
	pkg := e.functionName(method)
	var sizes, slots, outs []string
	for _, z := range free(f) {
		sizes = append(sizes, fmt.Sprintf("%s: %s", sizeField(z.Name), blockSize(z.Name)))
	}
	for _, st := range f.States {
		slots = append(slots, fmt.Sprint((&stageEmitter{u: e.u}).state(st.Name)))
	}
	fields := fmt.Sprintf("Sizes: %s.Sizes{%s}", pkg, strings.Join(sizes, ", "))
	if len(slots) > 0 {
		fields += fmt.Sprintf(", Slots: [%d]int{%s}", len(slots), strings.Join(slots, ", "))
	}
	s := &stageEmitter{u: f, fwd: f.Stages[0].Fwd, bwd: f.Stages[0].Bwd}
	for _, o := range s.outputs() {
		outs = append(outs, argName(o.Of))
	}
	args := []string{"c", "w", "m"}
	for _, in := range s.inputs() {
		args = append(args, argName(in.Of))
	}
	fmt.Fprintf(b, "\t%s, err := (&%s.Function[F]{%s}).Call(%s)\n\tif err != nil {\n\t\treturn\n\t}\n",
		strings.Join(outs, ", "), pkg, fields, strings.Join(args, ", "))
}
