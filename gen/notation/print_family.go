package notation

// memberAt writes an entry of a member, `M_t[k,i]`; false for other names.
func (p *printer) memberAt(id *Ident, at []Expr) bool {
	name, member := CutMember(id.Name.Text)
	if member == "" {
		return false
	}
	plain := *id
	plain.Name.Text = name
	p.ident(&plain)
	p.brackets("[", "]", true, append([]Expr{&Ident{Name: Word{Text: member}}}, at...), ",")
	return true
}

// family writes the prefix of a line.
func (p *printer) family(f *Family) {
	if f == nil {
		return
	}
	p.WriteString("family ")
	p.word(f.Letter)
	p.WriteString(" " + p.sign("∈") + " {")
	p.commas(len(f.Members), func(i int) { p.word(f.Members[i]) })
	p.WriteString("} : ")
}
