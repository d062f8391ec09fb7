package gen

import (
	"bytes"
	"maps"
	"slices"
	"testing"
)

// TestPipeline wants every pass to have a name of its own, a description, an output and
// one function, unless it is a part of another pass that is dumped by itself.
func TestPipeline(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Pipeline {
		functions := 0
		for _, has := range []bool{p.Pages != nil, p.Unit != nil, p.Project != nil} {
			if has {
				functions++
			}
		}
		if seen[p.Name] || p.Does == "" || p.Output == "" || functions != 1 && (functions != 0 || p.Dump == nil) {
			t.Errorf("%+v: %d functions, or the name is another pass's", p, functions)
		}
		if (p.Unit != nil) && p.Result == "" || p.Unit == nil && p.Verify != nil {
			t.Errorf("%s: a pass over units makes a result, and only such a pass is verified", p.Name)
		}
		seen[p.Name] = true
	}
}

// TestStats wants every pass of a run to be measured, and the files to be the same.
func TestStats(t *testing.T) {
	p := newSmall(t)
	p.conf.Cache = ""
	want, _ := p.run()
	p.conf.Stats = &Stats{}
	got, _ := p.run()
	if !maps.EqualFunc(want, got, bytes.Equal) {
		t.Error("the files with Stats are others")
	}
	for _, pass := range Pipeline {
		measured := slices.ContainsFunc(p.conf.Stats.Passes, func(s PassStats) bool { return s.Name == pass.Name && s.Runs > 0 })
		if runs := pass.Pages != nil || pass.Unit != nil || pass.Project != nil; measured != runs {
			t.Errorf("%s: measured %v, want %v", pass.Name, measured, runs)
		}
	}
}
