package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Generation is timed on a copy of what the compiler reads and of what its
// output needs, so the project's own tree is not touched: `generate` into it
// without evidence, `go build` of what it wrote with an empty build cache, and
// `generate` again with nothing to do.

const (
	generateFirst = "generate, no evidence"
	generateAgain = "generate, nothing to do"
	buildEmitted  = "go build, empty cache"
)

// A generation is the commands in a row.
type generation struct {
	root, dir string
	compiler  string
	steps     map[string]time.Duration // of the last row
	round     int
}

// newGeneration compiles the compiler of the project in root.
func newGeneration(root, dir string) (*generation, error) {
	g := &generation{root: root, dir: dir, compiler: filepath.Join(dir, "hecategen")}
	if _, err := g.command(root, nil, "go", "build", "-o", g.compiler, "./cmd/hecategen"); err != nil {
		return nil, err
	}
	return g, nil
}

// row runs the three commands once in a fresh copy.
func (g *generation) row() error {
	g.round++
	tree := filepath.Join(g.dir, fmt.Sprintf("tree%d", g.round))
	for _, name := range []string{"go.mod", "go.sum", "specs", "runtime", "internal"} {
		if err := copyTree(filepath.Join(g.root, name), filepath.Join(tree, name)); err != nil {
			return fmt.Errorf("copy the tree: %w", err)
		}
	}
	caches := filepath.Join(g.dir, fmt.Sprintf("cache%d", g.round))
	if err := os.MkdirAll(caches, 0o777); err != nil {
		return err
	}
	env := []string{"XDG_CACHE_HOME=" + caches, "GOCACHE=" + filepath.Join(caches, "go-build")}
	g.steps = map[string]time.Duration{}
	for _, step := range []struct {
		name string
		args []string
	}{
		{generateFirst, []string{g.compiler, "generate"}},
		{buildEmitted, []string{"go", "build", "./generated/..."}},
		{generateAgain, []string{g.compiler, "generate"}},
	} {
		took, err := g.command(tree, env, step.args...)
		if err != nil {
			return err
		}
		g.steps[step.name] = took
	}
	for _, d := range []string{tree, caches} {
		if err := os.RemoveAll(d); err != nil {
			return err
		}
	}
	return nil
}

// command runs a command in a folder and returns how long it took.
func (g *generation) command(dir string, env []string, args ...string) (time.Duration, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	from := time.Now()
	if err := cmd.Run(); err != nil {
		name := filepath.Base(args[0]) + " " + strings.Join(args[1:], " ")
		return 0, fmt.Errorf("%s: %w\n%s", name, err, text.Bytes())
	}
	return time.Since(from), nil
}

// measureGeneration runs the given number of rows.
func measureGeneration(root string, rounds int, done func(round int)) (*times, error) {
	dir, err := os.MkdirTemp("", "hecate-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	g, err := newGeneration(root, dir)
	if err != nil {
		return nil, err
	}
	t := &times{}
	for _, name := range []string{generateFirst, generateAgain, buildEmitted} {
		t.tasks = append(t.tasks, task{what: generationName, variant: name})
	}
	t.ns = make([][]int64, len(t.tasks))
	done(0)
	for round := range rounds {
		if err := g.row(); err != nil {
			return nil, err
		}
		for i, k := range t.tasks {
			t.ns[i] = append(t.ns[i], g.steps[k.variant].Nanoseconds())
		}
		done(round + 1)
	}
	return t, nil
}

const generationName = "generation"

// copyTree copies a file or a folder with its files.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o777)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o666)
	})
}
