// Package extension holds the table "where to add what" of ARCHITECTURE.md to the truth: the
// scripts of testdata do tasks of that table in a copy of the module. The patches of a task are
// applied, the files that it changed are counted, and the tests and commands are run that
// tell whether it is done.
package extension

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

const root = "../.."

// state is the key of a script's value: the contents of the files that its tasks have changed.
const state = "changed"

// TestTasks runs the scripts. They have the commands of testscript, and
//
//	patch TASK      applies the files under a folder of the script to the module
//	touched 'ROW'   compares the number of files that have changed since the last task, or since
//	                the beginning, with the count of that row
//
// A file of a patch is a new file of the module, or edits of one that exists: `@@ after
// LINE`, `@@ before LINE` or `@@ replace LINE`, and then the text. LINE is one
// line of the file without its indent, or its beginning. No edit depends on the number of a line.
func TestTasks(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles much of the module again")
	}
	table := rows(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			for _, name := range []string{"HOME", "GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOTOOLCHAIN"} {
				if v, err := exec.Command("go", "env", name).Output(); err == nil && name != "HOME" {
					e.Setenv(name, strings.TrimSpace(string(v)))
				} else {
					e.Setenv(name, os.Getenv(name))
				}
			}
			e.Setenv("GOFLAGS", "-trimpath -vet=off") // so that the copy shares what is compiled
			e.Values[state] = map[string]string{}
			e.Cd = filepath.Join(e.WorkDir, "module")
			return copyModule(e.Cd)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"patch": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(overlay(filepath.Join(ts.Getenv("WORK"), args[0]), ts.MkAbs(".")))
			},
			"touched": func(ts *testscript.TestScript, _ bool, args []string) {
				done := ts.Value(state).(map[string]string)
				changed, err := changes(ts.MkAbs("."), done)
				ts.Check(err)
				count, ok := table[args[0]]
				if !ok {
					ts.Fatalf("ARCHITECTURE.md has no row %q in its table of what to add where", args[0])
				}
				if count != fmt.Sprint(len(changed)) {
					ts.Fatalf("ARCHITECTURE.md says that %s touches %s files, and it touches %d:\n%s", args[0], count, len(changed), strings.Join(changed, "\n"))
				}
			},
		},
	})
}

// rows are the counts of the table, by the first column.
func rows(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(root + "/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	_, section, _ := strings.Cut(string(text), "\n## 5. ")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, m := range regexp.MustCompile(`(?m)^\| ([^|]+) \|.*\| ([0-9]+) \|$`).FindAllStringSubmatch(section, -1) {
		out[m[1]] = m[2]
	}
	if len(out) == 0 {
		t.Fatal("section 5 of ARCHITECTURE.md has no table")
	}
	return out
}

// files calls f for the files of the module under a folder, by their paths in it.
func files(dir string, f func(path string) error) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "out"):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return f(rel)
	})
}

func copyModule(to string) error {
	return files(root, func(path string) error {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		return write(filepath.Join(to, path), text)
	})
}

func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// changes lists the files of a copy that differ from the module's and from those that earlier
// tasks have changed, to which it adds them.
func changes(module string, done map[string]string) ([]string, error) {
	var out []string
	err := files(module, func(path string) error {
		now, err := os.ReadFile(filepath.Join(module, path))
		if err != nil {
			return err
		}
		old, changed := done[path]
		if !changed {
			text, err := os.ReadFile(filepath.Join(root, path))
			changed, old = err == nil, string(text)
		}
		if !changed || old != string(now) {
			out = append(out, path)
			done[path] = string(now)
		}
		return nil
	})
	return out, err
}

// overlay applies the files of a folder to the copy of the module.
func overlay(folder, module string) error {
	return files(folder, func(path string) error {
		text, err := os.ReadFile(filepath.Join(folder, path))
		if err != nil {
			return err
		}
		target := filepath.Join(module, path)
		if old, err := os.ReadFile(target); err == nil {
			if text, err = edited(old, text); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		return write(target, text)
	})
}

// edited is a text with edits.
func edited(old, edits []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(old), "\n")
	for _, e := range strings.Split("\n"+string(edits), "\n@@ ")[1:] {
		head, text, _ := strings.Cut(e, "\n")
		how, anchor, _ := strings.Cut(head, " ")
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		at := only(lines, func(l string) bool { return strings.TrimSpace(l) == anchor })
		if at < 0 {
			at = only(lines, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), anchor) })
		}
		if at < 0 {
			return nil, fmt.Errorf("not one line is %q or begins with it", anchor)
		}
		switch how {
		case "after":
			lines = slices.Insert(lines, at+1, text)
		case "before":
			lines = slices.Insert(lines, at, text)
		case "replace":
			lines[at] = text
		default:
			return nil, fmt.Errorf("no edit is called %q", how)
		}
	}
	return []byte(strings.Join(lines, "")), nil
}

// only is the one line that a condition holds for, or −1.
func only(lines []string, holds func(string) bool) int {
	at := slices.IndexFunc(lines, holds)
	if at < 0 || slices.ContainsFunc(lines[at+1:], holds) {
		return -1
	}
	return at
}
