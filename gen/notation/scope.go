package notation

// Locals are the names that do not mean the block's: parameters and local definitions,
// which are true, and indices, false: an index s does not hide s_t. The definition may be
// nil.
func Locals(params []*Param, d *Define) map[string]bool {
	out := map[string]bool{}
	for _, p := range params {
		out[p.Name.Text] = true
	}
	if d != nil {
		for _, w := range d.With {
			out[w.Target.Name.Name.Text] = true
		}
	}
	return out
}

// Bind adds indices to local names.
func Bind(local map[string]bool, bs []*Binder) {
	for _, b := range bs {
		if _, hidden := local[b.Name.Text]; !hidden && b.Name.Text != "" {
			local[b.Name.Text] = false
		}
		Bind(local, b.Tuple)
	}
}
