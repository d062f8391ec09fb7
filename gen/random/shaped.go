package random

// The productions of numbers, vectors and matrices.

// anyAxis is an axis of the page, in a function one of its parameters'.
func (g *grower) anyAxis(s *scope) string {
	for s != nil && s.pure && len(s.vals) > 0 {
		v := pick(g, s.vals)
		if len(v.typ) > 0 {
			return pick(g, v.typ)
		}
		if g.chance(20) {
			break
		}
	}
	for {
		if a := pick(g, g.axes); a.name[0] != 'w' {
			return a.name
		}
	}
}

func (g *grower) dot(s *scope, _ axesType, depth int) *expr {
	a := g.anyAxis(s)
	if g.chance(25) {
		t := axesType{a, g.anyAxis(s)}
		return &expr{form: "⟨#, #⟩", args: []*expr{g.expr(s, t, depth), g.expr(s, t, depth)}, closed: true}
	}
	return &expr{form: pick(g, []string{"% · %", "%ᵀ %"}), args: []*expr{g.expr(s, axesType{a}, depth), g.expr(s, axesType{a}, depth)}}
}

func (g *grower) norm(s *scope, _ axesType, depth int) *expr {
	t := axesType{g.anyAxis(s)}
	if g.chance(30) {
		t = append(t, g.anyAxis(s))
	}
	return &expr{form: pick(g, []string{"norm(#)", "½ norm(#)²", "sqrt(0.1 + norm(#)²)"}), args: []*expr{g.expr(s, t, depth)}}
}

// reduced gathers numbers over indices.
func (g *grower) reduced(s *scope, _ axesType, depth int) *expr {
	i := index{g.fresh("i"), g.anyAxis(s)}
	over := i.name + "∈" + i.axis
	in := s.bind(i)
	kind := pick(g, []string{"Σ", "Σ", "Σ", "mean", "max", "min", "logsumexp"})
	if kind == "Σ" || kind == "mean" {
		switch g.rng.IntN(5) {
		case 0:
			j := index{g.fresh("i"), i.axis}
			over, in = over+", "+j.name+"∈"+j.axis+", "+i.name+pick(g, []string{"≠", "<", "≤"})+j.name, in.bind(j)
		case 1:
			j := index{g.fresh("i"), g.anyAxis(s)}
			over, in = over+", "+j.name+"∈"+j.axis, in.bind(j)
		}
	}
	e := g.expr(in, nil, depth)
	switch {
	case kind == "Σ":
		return &expr{form: "Σ_{" + over + "} %", args: []*expr{e}}
	case kind == "mean" && len(in.index) > len(s.index)+1:
		return &expr{form: "mean_{" + over + "}(#), empty = 0", args: []*expr{e}}
	}
	return &expr{form: kind + "_{" + over + "}(#)", args: []*expr{e}, closed: true}
}

// sized divides by what the size of an axis says.
func (g *grower) sized(s *scope, _ axesType, depth int) *expr {
	a := g.anyAxis(s)
	return &expr{form: pick(g, []string{"(1/sqrt(" + a + ")) %", "% / " + a}), args: []*expr{g.expr(s, nil, depth)}}
}

func (g *grower) matrixTimes(s *scope, t axesType, depth int) *expr {
	b := g.anyAxis(s)
	if g.chance(30) {
		return &expr{form: "%ᵀ %", args: []*expr{g.expr(s, axesType{b, t[0]}, depth), g.expr(s, axesType{b}, depth)}}
	}
	return &expr{form: "% %", args: []*expr{g.expr(s, axesType{t[0], b}, depth), g.expr(s, axesType{b}, depth)}}
}

func (g *grower) softmax(s *scope, t axesType, depth int) *expr {
	i := index{g.fresh("i"), t[0]}
	return &expr{form: "softmax_{" + i.name + "∈" + i.axis + "}(#)", args: []*expr{g.expr(s.bind(i), nil, depth)}, closed: true}
}

// stacked lays one vector on top of another, where the axis is a sum.
func (g *grower) stacked(s *scope, t axesType, depth int) *expr {
	a := g.axis(t[0])
	if a.parts[0] == "" {
		return nil
	}
	return &expr{form: "[#; #]", args: []*expr{g.expr(s, axesType{a.parts[0]}, depth), g.expr(s, axesType{a.parts[1]}, depth)}, closed: true}
}

// gradient differentiates a loss of the page by its first parameter.
func (g *grower) gradient(s *scope, t axesType, depth int) *expr {
	if s.pure {
		return nil
	}
	for _, f := range g.losses {
		if f.params[0].equal(t) && g.chance(60) {
			e := &expr{form: "∇_M " + f.name + "(#;", args: []*expr{g.expr(s, t, depth)}, closed: true}
			for i, p := range f.params[1:] {
				e.form += []string{" #", ", #"}[min(i, 1)]
				e.args = append(e.args, g.expr(s, p, min(depth, 1)))
			}
			e.form += ")"
			return e
		}
	}
	return nil
}

func (g *grower) unit(s *scope, t axesType, depth int) *expr {
	return &expr{form: "unit(#)", args: []*expr{g.expr(s, t, depth)}, closed: true}
}

// summed sums vectors over an index.
func (g *grower) summed(s *scope, t axesType, depth int) *expr {
	i := index{g.fresh("i"), g.anyAxis(s)}
	return &expr{form: "Σ_{" + i.name + "∈" + i.axis + "} %", args: []*expr{g.expr(s.bind(i), t, depth)}}
}

func (g *grower) outer(s *scope, t axesType, depth int) *expr {
	return &expr{form: "% %ᵀ", args: []*expr{g.expr(s, t[:1], depth), g.expr(s, t[1:], depth)}}
}

func (g *grower) product(s *scope, t axesType, depth int) *expr {
	b := g.anyAxis(s)
	return &expr{form: "% %", args: []*expr{g.expr(s, axesType{t[0], b}, depth), g.expr(s, axesType{b, t[1]}, depth)}}
}

func (g *grower) transposed(s *scope, t axesType, depth int) *expr {
	return &expr{form: "%ᵀ", args: []*expr{g.expr(s, axesType{t[1], t[0]}, depth)}}
}

func (g *grower) rows(s *scope, t axesType, depth int) *expr {
	return &expr{form: pick(g, []string{"unit_rows(#)", "soft_rows(#)"}), args: []*expr{g.expr(s, t, depth)}, closed: true}
}
