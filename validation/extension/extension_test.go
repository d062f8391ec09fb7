// Package extension holds the table "where to add what" of ARCHITECTURE.md to the truth: each
// script of testdata is a task of that table, done in a copy of the module. Its patches are
// applied, the tests and commands are run that would tell whether it is done, and the files
// that differ afterwards are counted.
package extension

import (
	"bytes"
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

// TestTasks runs the scripts. They have the commands of testscript, and
//
//	patch           applies the files under patch/ to the module
//	touched 'ROW'   compares the files that differ with the count of that row
//	place           puts the files under check/ into the module: they are not counted
//
// A file under patch/ is a new file of the module, or edits of one that exists: `@@ after
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
			e.Cd = filepath.Join(e.WorkDir, "module")
			return copyModule(e.Cd)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"patch": func(ts *testscript.TestScript, _ bool, _ []string) { ts.Check(overlay(ts.Getenv("WORK"), "patch")) },
			"place": func(ts *testscript.TestScript, _ bool, _ []string) { ts.Check(overlay(ts.Getenv("WORK"), "check")) },
			"touched": func(ts *testscript.TestScript, _ bool, args []string) {
				files, err := different(filepath.Join(ts.Getenv("WORK"), "module"))
				ts.Check(err)
				count, ok := table[args[0]]
				if !ok {
					ts.Fatalf("ARCHITECTURE.md has no row %q in its table of what to add where", args[0])
				}
				if count != fmt.Sprint(len(files)) {
					ts.Fatalf("ARCHITECTURE.md says that %s touches %s files, and it touches %d:\n%s", args[0], count, len(files), strings.Join(files, "\n"))
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

// different lists the files of a copy that differ from the module's.
func different(copied string) ([]string, error) {
	var out []string
	err := files(copied, func(path string) error {
		now, err := os.ReadFile(filepath.Join(copied, path))
		if err != nil {
			return err
		}
		old, err := os.ReadFile(filepath.Join(root, path))
		if err != nil || !bytes.Equal(old, now) {
			out = append(out, path)
		}
		return nil
	})
	return out, err
}

// overlay applies the files of a folder of the script to the copy of the module.
func overlay(work, folder string) error {
	return files(filepath.Join(work, folder), func(path string) error {
		text, err := os.ReadFile(filepath.Join(work, folder, path))
		if err != nil {
			return err
		}
		target := filepath.Join(work, "module", path)
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
