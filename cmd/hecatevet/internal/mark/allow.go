package mark

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// An Allow is a directive that allows one finding:
//
//	//hecate:allow ANALYZER reason
//
// at the end of the line that it is about, alone on the line before it, or in the doc of a
// function, all of which it is about.
type Allow struct {
	Pos      token.Pos
	Analyzer string
	Reason   string
	file     string
	from, to int // lines that it is about
	used     bool
}

// wrong is an invalid directive.
type wrong struct {
	pos token.Pos
	msg string
}

// loose checks a directive that is not in the doc of a declaration.
func (c collector) loose(f *ast.File, comment *ast.Comment) {
	text, ok := strings.CutPrefix(comment.Text, Prefix)
	if !ok || c.seen[comment] {
		return
	}
	word, rest, _ := strings.Cut(text, " ")
	w, known := words[word]
	switch {
	case word == "allow":
		c.allow(comment, rest, 0, 0)
	case known:
		c.m.wrong = append(c.m.wrong, wrong{comment.Pos(), Prefix + word + " does not belong here: it belongs in the doc of a " + w.on.String()})
	default:
		c.m.wrong = append(c.m.wrong, wrong{comment.Pos(), fmt.Sprintf("there is no directive %s%s; there are allow, %s", Prefix, word, strings.Join(sortedWords, ", "))})
	}
}

// whole reads what the doc of a function allows in all of it.
func (c collector) whole(d *ast.FuncDecl) {
	if d.Doc == nil {
		return
	}
	for _, comment := range d.Doc.List {
		if rest, ok := strings.CutPrefix(comment.Text, Prefix+"allow"); ok {
			c.seen[comment] = true
			c.allow(comment, rest, c.pass.Fset.Position(d.Pos()).Line, c.pass.Fset.Position(d.End()).Line)
		}
	}
}

// allow reads a directive; without lines it is about its own or the next.
func (c collector) allow(comment *ast.Comment, rest string, from, to int) {
	name, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
	at := c.pass.Fset.Position(comment.Pos())
	if from == 0 {
		from = at.Line + 1
		if src, err := c.pass.ReadFile(at.Filename); err == nil && strings.TrimSpace(string(src[at.Offset-(at.Column-1):at.Offset])) != "" {
			from = at.Line
		}
		to = from
	}
	a := &Allow{Pos: comment.Pos(), Analyzer: name, Reason: strings.TrimSpace(reason), file: at.Filename, from: from, to: to}
	if a.Reason == "" {
		c.m.wrong = append(c.m.wrong, wrong{comment.Pos(), Prefix + "allow needs an analyzer and a reason: " + Prefix + "allow ANALYZER why this is right"})
		return
	}
	c.m.allows = append(c.m.allows, a)
}

// Report reports a finding of pass's analyzer, unless a directive allows it.
func (m *Marks) Report(pass *analysis.Pass, at ast.Node, format string, args ...any) {
	p := pass.Fset.Position(at.Pos())
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.allows {
		if a.Analyzer == pass.Analyzer.Name && a.file == p.Filename && a.from <= p.Line && p.Line <= a.to {
			a.used = true
			return
		}
	}
	pass.Report(analysis.Diagnostic{Pos: at.Pos(), End: at.End(), Message: fmt.Sprintf(format, args...)})
}

// Allows calls f for every allowance, in the order of the files, with whether
// something was reported that it allows.
func (m *Marks) Allows(f func(a *Allow, used bool)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.allows {
		f(a, a.used)
	}
}

// Wrong calls f for every invalid directive.
func (m *Marks) Wrong(f func(pos token.Pos, msg string)) {
	for _, w := range m.wrong {
		f(w.pos, w.msg)
	}
}
