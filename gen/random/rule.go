package random

import (
	"fmt"
	"slices"
	"strings"
)

// A rule is grown from its axes over its series and functions to its states:
// each state has equations of the token before it, and its write.

// A state of a rule, as its equations see it.
type state struct {
	value
	chunk bool // begins again with every call
	keep  string
}

// A ruleGrower is a rule under way.
type ruleGrower struct {
	*grower
	token *scope // values that depend on no state
	step  *scope // what a token's equations may read
}

func (g *grower) rule() { g.ruleOf("$", "d", "m") }

// heads grows a rule, and the unit is that rule in heads. Its output has an
// axis that the tokens do not have.
func (g *grower) heads() {
	g.ruleOf("$One", "m")
	g.add(fmt.Sprintf("\nrule $ = $One(heads = %d)", 1+g.rng.IntN(3))).keep = true
}

// ruleOf grows a rule whose answer has one of some axes.
func (g *grower) ruleOf(name string, answer ...string) {
	g.ruleHead(name)
	r := &ruleGrower{grower: g, token: &scope{window: true, types: map[string]axesType{}}}
	r.token.vals = []value{{"x_t", axesType{"d"}}}
	r.token.series, r.token.types["x"] = []string{"x"}, axesType{"d"}
	r.functions()
	r.seriesLines()
	r.states()
	r.answer(axesType{pick(g, answer)})
}

func (g *grower) ruleHead(name string) {
	g.axes = []axis{{name: "d"}, {name: "m"}, {name: "n"}}
	dims := "dims d, m, n"
	if g.chance(35) {
		g.axes = append(g.axes, axis{name: "e", parts: [2]string{"m", "n"}})
		dims += ", e = m + n"
	}
	if g.chance(45) {
		c := axis{name: "c", fixed: 2 + g.rng.IntN(3)}
		g.axes = append(g.axes, c)
		dims += fmt.Sprintf(", c = %d", c.fixed)
	}
	g.add("rule " + name).keep = true
	if name != "$" {
		g.add("option heads ≥ 1 = 1 replicate").keep = true
	}
	if g.chance(40) {
		g.axes = append(g.axes, axis{name: "w"})
		g.add(fmt.Sprintf("option w ≥ 1 = %d", 1+g.rng.IntN(4)))
	}
	g.add(dims).keep = true
	g.add("input x ∈ ℝ^{d}").keep = true
	g.header = len(g.page.lines)
}

// functions writes losses, and functions of numbers.
func (r *ruleGrower) functions() {
	for _, n := range []int{1, 2} {
		if !r.chance(30) {
			continue
		}
		f := function{name: r.fresh("f"), params: make([]axesType, n)}
		in := &scope{vals: []value{{"z", nil}, {"b", nil}}[:n], pure: true}
		r.maps = append(r.maps, f)
		r.declare(f.name+"("+[]string{"z ∈ ℝ", "z ∈ ℝ, b ∈ ℝ"}[n-1]+") = % + 0.3 z"+[]string{"", " b"}[n-1], r.expr(in, nil, 2))
	}
	for range r.upTo(2) {
		t := pick(r.grower, []axesType{{"m", "n"}, {"m", "n"}, {"n", "m"}, {"m"}, {"n", "n"}})
		f := function{name: r.fresh("ℓ"), params: []axesType{t, {t[len(t)-1]}, {t[0]}}}
		in := &scope{vals: []value{{"M", t}, {"k", f.params[1]}, {"v", f.params[2]}}, pure: true}
		e := &expr{form: "½ ‖% k − v‖²", args: []*expr{{typ: t, form: "M", closed: true}}}
		if len(t) == 1 || r.chance(50) {
			e = r.expr(in, nil, r.deep())
		}
		form := fmt.Sprintf("%s(M ∈ %s; k ∈ %s, v ∈ %s) = #", f.name, t.declared(), f.params[1].declared(), f.params[2].declared())
		if r.chance(30) {
			local := axesType{pick(r.grower, t)}
			r.declare(form+"\n  with h = #", &expr{form: "% + ½ ‖h‖²", args: []*expr{e}}, r.expr(in, local, 2))
		} else {
			r.declare(form, e)
		}
		r.losses = append(r.losses, f)
	}
}

// seriesLines writes equations that depend on no state.
func (r *ruleGrower) seriesLines() {
	want := []axesType{{"m"}, {"n"}}
	for range r.upTo(3) {
		t := axesType{r.anyAxis(nil)}
		if few := r.few(); few != "" && r.chance(40) {
			t = append(axesType{few}, t...)
		} else if r.chance(20) {
			t = nil
		}
		want = append(want, t)
	}
	for _, t := range want {
		r.define(r.token, t, 2, "u")
	}
	r.gates()
}

// define writes the equation of a new name, as a whole or entry by entry.
func (r *ruleGrower) define(s *scope, t axesType, depth int, letter string) {
	name := r.fresh(letter)
	form, in, rest := name+"_t", s, t
	if len(t) > 2 || len(t) > 0 && r.chance(35) {
		n := max(len(t)-2, 1+r.rng.IntN(len(t)))
		var binders []string
		for _, a := range t[:n] {
			i := index{r.fresh("i"), a}
			binders, in = append(binders, i.name+"∈"+a), in.bind(i)
		}
		form, rest = form+"["+strings.Join(binders, ", ")+"]", t[n:]
	}
	e := r.expr(in, rest, depth)
	if rest.equal(t) && r.chance(15) && len(t) > 0 { // with a name of its own
		local := value{r.fresh("a"), axesType{r.anyAxis(nil)}}
		more := *in
		more.vals, more.window = append(slices.Clone(in.vals), local), false
		first := r.expr(in, local.typ, 2)
		r.add(form+" = #\n  with "+local.text+" = #", r.expr(&more, rest, depth), first)
	} else {
		r.add(form+" = #", e)
	}
	s.vals = append(s.vals, value{name + "_t", t})
	if s == r.token {
		s.series = append(s.series, name)
		s.types[name] = t
	}
}

func (r *ruleGrower) gates() {
	for range r.upTo(2) {
		name := r.fresh("g")
		form, e := "gate "+name, r.expr(&scope{vals: r.token.vals}, nil, 2)
		switch r.rng.IntN(3) {
		case 0:
			form += " ∈ (0,1) = sigmoid(#) within [0.2, 0.9]"
		case 1:
			form += " > 0 = softplus(#)"
		default:
			form += " ∈ (0,1) = sigmoid(#)"
		}
		r.add(form, e)
		r.token.vals = append(r.token.vals, value{name + "_t", nil})
	}
}

// states declares the states and writes the equations of a token.
func (r *ruleGrower) states() {
	step := *r.token
	r.step = &step
	r.step.states = true
	r.step.vals = slices.Clone(r.token.vals)
	var all []state
	for range 1 + r.upTo(3)/2 {
		all = append(all, r.state())
	}
	for _, st := range all {
		r.step.vals = append(r.step.vals, value{st.text + "_{t−1}", st.typ})
	}
	for _, st := range all {
		for range r.upTo(2) {
			r.between(st)
		}
		r.write(st)
		r.step.vals = append(r.step.vals, value{st.text + "_t", st.typ})
	}
	if r.chance(50) {
		r.define(r.step, axesType{r.anyAxis(nil)}, 3, "h")
	}
}

// state declares a state, and what is held of it.
func (r *ruleGrower) state() state {
	t := pick(r.grower, []axesType{{"m", "n"}, {"m", "n"}, {"m", "n"}, {"n", "n"}, {"m"}, {"d"}, {"n", "m"}, nil})
	if few := r.few(); few != "" && r.chance(25) {
		t = append(axesType{few}, t...)
	}
	st := state{value: value{r.fresh("S"), t}, chunk: r.chance(12)}
	first, set := "0", "ℝ"
	switch {
	case len(t) == 2 && r.chance(15):
		st.keep = pick(r.grower, []string{"unit_rows", "soft_rows"})
		set = map[string]string{"unit_rows": "𝕊", "soft_rows": "Δ"}[st.keep]
		first = st.keep + "(" + r.start(t) + ")"
	case r.chance(35):
		first = r.start(t)
		if r.chance(30) {
			first = "tanh(" + first + ")"
		}
	case len(t) == 0 && r.chance(50):
		first = "0.5"
	}
	typ := strings.Replace(t.declared(), "ℝ", set, 1)
	form := fmt.Sprintf("state %s ∈ %s = %s", st.text, typ, first)
	if st.chunk {
		form += " per chunk"
	}
	r.declare(form)
	r.held(st)
	return st
}

// start is a learned first value.
func (r *ruleGrower) start(t axesType) string {
	name := r.fresh("P") + "⁰"
	r.declare(fmt.Sprintf("outer %s ∈ %s ~ normal(0, 1) nodecay", name, t.declared()))
	return name
}

// held makes the state at the start of the context or of the call readable in the
// token's equations.
func (r *ruleGrower) held(st state) {
	if r.chance(12) {
		name := r.fresh("B")
		r.declare("anchor " + name + " of " + st.text + " at context")
		r.step.vals = append(r.step.vals, value{name, st.typ})
	}
	if !st.chunk && r.chance(12) {
		r.declare("snap " + st.text + "°")
		r.step.vals = append(r.step.vals, value{st.text + "°", st.typ})
	}
	if r.chance(6) {
		r.step.vals = append(r.step.vals, value{st.text + "_0", st.typ})
	}
}

// between writes an equation that reads states.
func (r *ruleGrower) between(st state) {
	t := axesType{r.anyAxis(nil)}
	switch n := r.rng.IntN(10); {
	case n < 2:
		t = st.typ
	case n < 3:
		t = nil
	case n < 4:
		r.iterate()
		return
	case n < 5:
		r.unknown()
		return
	}
	r.define(r.step, t, 3, "h")
}

// iterate writes rounds that stay bounded.
func (r *ruleGrower) iterate() {
	t := axesType{"m", "n"}
	name := r.fresh("X")
	from := r.expr(r.step, t, 1)
	in := *r.step
	in.vals, in.window = append(slices.Clone(r.step.vals), value{name + "_t", t}, value{name + "_t", t}), false
	if r.chance(50) {
		r.add(fmt.Sprintf("iterate %[1]s_t from %% / (1 + ‖#‖) for %d : %[1]s_t ← 1.5 %[1]s_t − 0.5 A %[1]s_t with A = %[1]s_t %[1]s_tᵀ", name, r.rng.IntN(4)), from, from)
	} else {
		r.add(fmt.Sprintf("iterate %[1]s_t from # for %d : %[1]s_t ← tanh(#)", name, r.rng.IntN(3)), from, r.expr(&in, t, 2))
	}
	r.step.vals = append(r.step.vals, value{name + "_t", t})
}

// unknown writes an equation with one root.
func (r *ruleGrower) unknown() {
	name, i := r.fresh("ζ"), index{r.fresh("i"), r.anyAxis(nil)}
	e := r.expr(r.step.bind(i), nil, 2)
	r.add(fmt.Sprintf("solve %[1]s_t ∈ [−60, 60] : mean_{%[2]s∈%[3]s}(tanh(tanh(#) − %[1]s_t)) = 0.1 %[1]s_t tol 1e-10", name, i.name, i.axis), e)
	r.step.vals = append(r.step.vals, value{name + "_t", nil})
}

// write writes the equation of a state, damped.
func (r *ruleGrower) write(st state) {
	old := &expr{typ: st.typ, form: st.text + "_{t−1}", closed: true}
	now := st.text + "_t"
	e := r.expr(r.step, st.typ, r.deep())
	var l *line
	switch n := r.rng.IntN(10); {
	case st.keep != "":
		l = r.add(now+" = "+st.keep+"(% + 0.5 %)", old, e)
	case n < 2:
		l = r.add(now+" = tanh(#)", e)
	case n < 3:
		l = r.add(now+" = { 0.9 % + 0.1 % if "+r.gateOf()+" > 0.2 ; 0.5 % otherwise }", old, e, old)
	case n < 5 && len(st.typ) > 0:
		i := index{r.fresh("i"), st.typ[0]}
		in := r.step.bind(i)
		row := &expr{typ: st.typ[1:], form: st.text + "_{t−1}[" + i.name + "]", closed: true}
		l = r.add(now+"["+i.name+"∈"+i.axis+"] = sigmoid(#) % + 0.2 %", r.expr(in, nil, 1), row, r.expr(in, st.typ[1:], r.deep()))
	case n < 7:
		l = r.add(now+" = 0.8 % + 0.2 tanh(#)", old, e)
	default:
		l = r.add(now+" = "+r.gateOf()+" % + 0.1 %", old, e)
	}
	l.keep = true
}

// gateOf is a number between zero and one.
func (r *ruleGrower) gateOf() string {
	for _, v := range r.token.vals {
		if strings.HasPrefix(v.text, "g") && r.chance(50) {
			return "min(" + v.text + ", 0.95)"
		}
	}
	return pick(r.grower, []string{"0.9", "0.7", "1"})
}

// answer writes y, which reads what nothing else does: the rest of a page does not
// exist.
func (r *ruleGrower) answer(t axesType) {
	e := r.expr(r.step, t, r.deep())
	text := r.page.Block() + e.text()
	for i, v := range r.step.vals {
		name, _, _ := strings.Cut(v.text, "_")
		read := strings.Count(text, name+"_") + strings.Count(text, name+"°")
		if read > 1 || strings.Contains(v.text, "x_t") || strings.Contains(v.text, "_{t−1}") || slices.ContainsFunc(r.step.vals[:i], func(w value) bool { return w.text == v.text }) {
			continue
		}
		e = &expr{typ: t, form: "% + %", args: []*expr{e, r.of(v, t)}}
	}
	r.add("y_t = #", e).keep = true
}

// of makes something of a type of a value.
func (r *ruleGrower) of(v value, t axesType) *expr {
	in := *r.token
	in.states = true
	whole := &expr{typ: v.typ, form: v.text, closed: true}
	switch {
	case v.typ.equal(t):
		return whole
	case len(v.typ) == 2 && v.typ[0] == t[0]:
		return &expr{typ: t, form: "% %", args: []*expr{whole, r.expr(&in, v.typ[1:], 1)}}
	case len(v.typ) == 0:
		return &expr{typ: t, form: "% %", args: []*expr{whole, r.expr(&in, t, 1)}}
	}
	i := index{r.fresh("i"), v.typ[0]}
	row := &expr{typ: v.typ[1:], form: v.text + "[" + i.name + "]", closed: true}
	if len(v.typ) == 1 {
		return &expr{typ: t, form: "Σ_{" + i.name + "∈" + i.axis + "} (% %)", args: []*expr{row, r.expr(in.bind(i), t, 1)}}
	}
	return &expr{typ: t, form: "(Σ_{" + i.name + "∈" + i.axis + "} ⟨#, #⟩) %", args: []*expr{row, r.expr(in.bind(i), row.typ, 1), r.leaf(&in, t)}}
}
