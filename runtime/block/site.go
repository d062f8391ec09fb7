package block

import (
	"strings"

	"github.com/nl-hecate/hecate/runtime/num"
)

// A part may be called twice in one call of its composition: once to write, and
// once frozen with other tokens. Both calls see the states and positions that the
// part's memory has; each has windows of its own. So the memory of the frozen call,
// its site, holds windows and borrows the rest.

// SiteName is the name of the memory of a part's frozen calls.
func SiteName(part string) string { return part + siteSuffix }

const siteSuffix = ".frozen"

// AddSite adds the memory of the frozen calls of a part, in front of that of the
// part: where both write a value of a new context, the part's wins.
func (m *Memory[F]) AddSite(part string, site *Memory[F]) {
	site.borrow()
	m.Parts = append(m.Parts, Part[F]{Name: SiteName(part), Memory: site})
}

func (m *Memory[F]) borrow() {
	m.site, m.Pos = true, nil
	for i := range m.Slots {
		if m.borrowed(i) {
			m.Slots[i].Data = nil
		}
	}
	for _, p := range m.Parts {
		p.Memory.borrow()
	}
}

// borrowed reports whether a slot belongs to another memory.
func (m *Memory[F]) borrowed(i int) bool { return m.site && !m.Slots[i].Window }

// SiteOf returns the memory of the frozen calls of a part, with the states and
// positions that the part's memory has. It panics when there is none: that is a
// fault of the generated code.
func (m *Memory[F]) SiteOf(part string) *Memory[F] {
	of := m.PartOf(part)
	for _, p := range m.Parts {
		if name, ok := strings.CutSuffix(p.Name, siteSuffix); ok && name == part {
			share(p.Memory, of)
			return p.Memory
		}
	}
	panic("block: BUG: no site of part " + part)
}

// shareSites lets all sites among the parts borrow.
func (m *Memory[F]) shareSites() {
	for _, p := range m.Parts {
		if name, ok := strings.CutSuffix(p.Name, siteSuffix); ok {
			share(p.Memory, m.PartOf(name))
		}
	}
}

func share[F num.Float](site, of *Memory[F]) {
	site.of, site.Pos = of, of.Pos
	for i := range site.Slots {
		if site.borrowed(i) {
			site.Slots[i].Data = of.Slots[i].Data
		}
	}
	for i := range site.Parts {
		share(site.Parts[i].Memory, of.Parts[i].Memory)
	}
}
