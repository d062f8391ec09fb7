package markdown

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

const suffix = ".md"

// refs finds every mention of another page: a word that ends in .md, in prose,
// comment, fence or link, and `Spec 17`.
func refs(f *source.File) []spec.Ref {
	var out []spec.Ref
	text := f.Text
	for at := 0; at < len(text); {
		n := strings.Index(text[at:], suffix)
		if n < 0 {
			break
		}
		end := at + n + len(suffix)
		if r, ok := pathRef(f, at, end); ok {
			out = append(out, r)
		}
		at = end
	}
	out = append(out, numberRefs(f)...)
	slices.SortStableFunc(out, func(a, b spec.Ref) int { return a.Span.Start - b.Span.Start })
	return out
}

// pathRef reads the reference that ends at end and begins after from.
func pathRef(f *source.File, from, end int) (spec.Ref, bool) {
	text := f.Text
	if end < len(text) && (pathByte(text[end]) && text[end] != '.' ||
		text[end] == '.' && end+1 < len(text) && isWordByte(text[end+1])) {
		return spec.Ref{}, false
	}
	start := end - len(suffix)
	for start > from && pathByte(text[start-1]) {
		start--
	}
	target := text[start:end]
	name := target[strings.LastIndexByte(target, '/')+1:]
	if name == suffix || strings.Contains(target, "//") || start > 0 && strings.IndexByte("*}\\", text[start-1]) >= 0 {
		return spec.Ref{}, false // a glob or an address
	}
	r := spec.Ref{Target: target, Kind: spec.RefName, Span: source.Span{File: f, Start: start, End: end}}
	if strings.Contains(target, "/") {
		r.Kind = spec.RefPath
	}
	if start >= 2 && text[start-2:start] == "](" {
		r.Kind = spec.RefLink
	}
	if end < len(text) && text[end] == '#' {
		stop := end + 1
		for stop < len(text) && pathByte(text[stop]) && text[stop] != '.' {
			stop++
		}
		r.Fragment = text[end+1 : stop]
		r.Span.End = stop
	}
	return r, true
}

func pathByte(c byte) bool { return isWordByte(c) || c == '.' || c == '/' || c == '-' || c == '+' }

var specNumber = regexp.MustCompile(`\bSpec (\d{1,3})\b`)

// numberRefs finds `Spec 17`. A number is no name of a page, two pages may
// share one; but people write it.
func numberRefs(f *source.File) []spec.Ref {
	if !strings.Contains(f.Text, "Spec ") { // the pattern is slow on long pages
		return nil
	}
	var out []spec.Ref
	for _, m := range specNumber.FindAllStringSubmatchIndex(f.Text, -1) {
		out = append(out, spec.Ref{Target: f.Text[m[2]:m[3]], Kind: spec.RefNumber, Span: source.Span{File: f, Start: m[0], End: m[1]}})
	}
	return out
}
