package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/consumeonce"
	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/effect"
	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/noescape"
	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/nozero"
	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/outerwrite"
	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/pulsereadonly"
)

// TestAnalyzers runs each analyzer over packages whose comments say what is wrong.
// The marked types are those of package life: no name is one of this module's.
func TestAnalyzers(t *testing.T) {
	for _, c := range []struct {
		analyzer *analysis.Analyzer
		packages []string
	}{
		{consumeonce.Analyzer, []string{"consumeonce", "life"}},
		{noescape.Analyzer, []string{"noescape", "life"}},
		{nozero.Analyzer, []string{"nozero", "life"}},
		{outerwrite.Analyzer, []string{"outerwrite", "forwards", "life"}},
		{pulsereadonly.Analyzer, []string{"pulsereadonly", "conductor", "life"}},
		{directives, []string{"marks", "life"}},
		{effect.Analyzer, []string{"keeper"}},
	} {
		t.Run(c.analyzer.Name, func(t *testing.T) {
			analysistest.Run(t, analysistest.TestData(), c.analyzer, c.packages...)
		})
	}
}

func TestAllowList(t *testing.T) {
	if err := directives.Flags.Set("list", "true"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = directives.Flags.Set("list", "false") }()
	analysistest.Run(t, analysistest.TestData(), directives, "listed")
}

// TestDocs wants a help that says what is reported and what to do.
func TestDocs(t *testing.T) {
	for _, a := range append(rules, directives) {
		title, body, _ := strings.Cut(a.Doc, "\n\n")
		if strings.Contains(title, "\n") || len(body) < 200 || !strings.Contains(body, "//hecate:") {
			t.Errorf("the help of %s is short: %q", a.Name, a.Doc)
		}
	}
}

// TestVet builds the tool and runs go vet with it over a module of a user's, which
// marks a type of its own in one package and moves it twice in another.
func TestVet(t *testing.T) {
	dir := t.TempDir()
	tool := filepath.Join(dir, "hecatevet")
	if out, err := exec.Command("go", "build", "-o", tool, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	module := filepath.Join(dir, "user")
	userModule(t, module)
	vet := func(args ...string) (string, error) {
		cmd := exec.Command("go", append([]string{"vet", "-vettool=" + tool}, args...)...)
		cmd.Dir = module
		cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := vet("./...")
	if err == nil || !strings.Contains(out, "user.go:9:9: l was moved in line 8; use what that call returned") {
		t.Errorf("go vet ended with %v and said\n%s", err, out)
	}
	out, err = vet("-json", "./...")
	if err != nil {
		t.Errorf("go vet -json: %v\n%s", err, out)
	}
	found := map[string]map[string][]struct{ Posn, Message string }{}
	for d := json.NewDecoder(strings.NewReader(out)); d.More(); { // an object a package
		if err := d.Decode(&found); err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
	}
	if list := found["user"]["consumeonce"]; len(list) != 1 || !strings.HasSuffix(list[0].Posn, "user.go:9:9") {
		t.Errorf("go vet -json found %v", found)
	}
	if out, err := vet("-consumeonce=false", "./..."); err != nil {
		t.Errorf("without the analyzer go vet ended with %v and said\n%s", err, out)
	}
	help, err := exec.Command(tool, "help", "consumeonce").CombinedOutput()
	if err != nil || !strings.Contains(string(help), "Assigning to the place makes it live") {
		t.Errorf("help: %v\n%s", err, help)
	}
}

// userModule writes a module that marks a type and moves a value of it twice.
func userModule(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{
		"go.mod": "module user\n\ngo 1.26\n",
		"kv/kv.go": `// Package kv has a lease.
package kv

// A Lease is used once.
//
//hecate:consumeonce
type Lease struct{ n int }

// Get makes one.
func Get() Lease { return Lease{1} }

// Put uses it.
func Put(Lease) {}
`,
		"user.go": `// Package user uses leases.
package user

import "user/kv"

func twice() {
	l := kv.Get()
	kv.Put(l)
	kv.Put(l)
}
`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
