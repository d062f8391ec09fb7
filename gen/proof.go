package gen

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/spec"
)

// A Proof is what is known about a tree of pages: one report a unit, then one
// a page for the statements of its header.
type Proof struct {
	Units, Pages []*prove.Report
}

// Prove settles every unit of every page, and every tagged statement of every
// header. Units do not depend on each other, so they are proved side by side;
// the order of reports and messages is that of the pages.
func Prove(s *Source, deep bool) (*Proof, diag.List) {
	opt := prove.Options{Deep: deep, Version: version()}
	if dir, err := prove.CacheDir(); err == nil && opt.Version != "" {
		opt.Cache = dir
	}
	p := &Proof{Units: make([]*prove.Report, len(s.Tree.Order))}
	lists := make([]diag.List, len(s.Tree.Order))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(lists); i = int(next.Add(1)) - 1 {
				p.Units[i], lists[i] = prove.Block(s.Tree, s.Tree.Order[i], opt)
			}
		})
	}
	wg.Wait()
	var ds diag.List
	for _, l := range lists {
		ds.Append(l)
	}
	for i, page := range s.Pages {
		if page.Header == nil || !page.Emits() {
			continue
		}
		r, l := prove.Page(s.Files[i], statements(page), p.Units)
		p.Pages = append(p.Pages, r)
		ds.Append(l)
	}
	return p, ds
}

// Totals counts the verdicts, such as "229 proved, 120 tested, 0 failed".
func (p *Proof) Totals() string {
	var parts []string
	for v := prove.Proved; v <= prove.Failed; v++ {
		n := 0
		for _, r := range slices.Concat(p.Units, p.Pages) {
			n += r.Count(v)
		}
		parts = append(parts, fmt.Sprintf("%d %v", n, v))
	}
	return strings.Join(parts, ", ")
}

// statements are the parts of a header that say something about the blocks.
func statements(p *spec.Page) []prove.Statement {
	var out []prove.Statement
	for _, name := range []spec.FieldName{"Expects", "Guarantees", "Cost"} {
		f := p.Header.Field(name)
		if f == nil {
			continue
		}
		for _, part := range f.Parts {
			st := prove.Statement{Field: string(name), Text: part.Text, Span: part.Span}
			for _, t := range part.Tags {
				st.Tags = append(st.Tags, prove.StatementTag{Text: t.Text, Span: t.Span})
			}
			out = append(out, st)
		}
	}
	return out
}

// version is the digest of the running compiler, so that evidence found by
// another one does not count; empty when it cannot be read.
var version = sync.OnceValue(func() string {
	name, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
})
