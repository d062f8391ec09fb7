package tree

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// put writes files below root as they are; a name that ends in a slash is a
// folder, a text that starts with "-> " a symbolic link.
func put(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(root, filepath.FromSlash(name))
		dir := filepath.Dir(full)
		if strings.HasSuffix(name, "/") {
			dir = full
		}
		err := os.MkdirAll(dir, 0o777)
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			err = errors.Join(err, os.Symlink(target, full))
		} else if dir != full {
			err = errors.Join(err, os.WriteFile(full, []byte(text), 0o666))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// get returns everything below root in the notation of put, except folders
// that something else shows.
func get(t *testing.T, root string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(root, func(full string, e fs.DirEntry, err error) error {
		if err != nil || full == root {
			return err
		}
		rel, _ := filepath.Rel(root, full)
		name := filepath.ToSlash(rel)
		delete(got, filepath.ToSlash(filepath.Dir(rel))+"/")
		switch {
		case e.IsDir():
			got[name+"/"] = ""
		case e.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(full)
			got[name] = "-> " + target
			return err
		default:
			data, err := os.ReadFile(full)
			got[name] = string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func files(m map[string]string) Files {
	f := Files{}
	for name, text := range m {
		f[name] = []byte(text)
	}
	return f
}

const list = manifestHead

func TestApply(t *testing.T) {
	type tree = map[string]string
	tests := []struct {
		name   string
		before tree
		want   tree
		after  tree // nil: as before
		rep    Report
		err    string
	}{
		{
			name: "first", want: tree{"generated/ops/a.go": mark, "cuda/kernels/a.cu": mark},
			after: tree{"generated/ops/a.go": mark, "cuda/kernels/a.cu": mark},
			rep:   Report{Written: []string{"cuda/kernels/a.cu", "generated/ops/a.go"}},
		},
		{
			name:   "neighbours stay",
			before: tree{"go.mod": "module m", "cuda/include/h.cuh": "x", "generated/a.go": mark + "1"},
			want:   tree{"generated/a.go": mark + "2"},
			after:  tree{"go.mod": "module m", "cuda/include/h.cuh": "x", "generated/a.go": mark + "2"},
			rep:    Report{Written: []string{"generated/a.go"}},
		},
		{
			name: "manifest", before: tree{"generated/a.go": mark}, want: tree{"generated/a.go": mark, "generated/t.json": "{}"},
			after: tree{"generated/a.go": mark, "generated/t.json": "{}", "generated/.manifest": list + "t.json\n"},
			rep:   Report{Written: []string{"generated/.manifest", "generated/t.json"}, Kept: 1},
		},
		{
			name:   "manifest goes with its last file",
			before: tree{"generated/a.go": mark, "generated/t.json": "{}", "generated/.manifest": list + "t.json\n"},
			want:   tree{"generated/a.go": mark}, after: tree{"generated/a.go": mark},
			rep: Report{Removed: []string{"generated/.manifest", "generated/t.json"}, Kept: 1},
		},
		{
			name:   "manifest with the scars of a merge",
			before: tree{"generated/.manifest": "<<<<<<< HEAD\nt.json\n=======\nu.json\r\n>>>>>>> x\n../../etc/passwd\n", "generated/t.json": "1", "generated/u.json": "2"},
			want:   tree{"generated/t.json": "3"}, after: tree{"generated/t.json": "3", "generated/.manifest": list + "t.json\n"},
			rep: Report{Written: []string{"generated/.manifest", "generated/t.json"}, Removed: []string{"generated/u.json"}},
		},
		{
			name:   "lost manifest, same bytes",
			before: tree{"generated/t.json": "{}"}, want: tree{"generated/t.json": "{}"},
			after: tree{"generated/t.json": "{}", "generated/.manifest": list + "t.json\n"},
			rep:   Report{Written: []string{"generated/.manifest"}, Kept: 1},
		},
		{
			name:   "empty folders go",
			before: tree{"generated/a/b/c.go": mark, "generated/e/f/": "", "generated/k.go": mark},
			want:   tree{"generated/k.go": mark}, after: tree{"generated/k.go": mark},
			rep: Report{Removed: []string{"generated/a/b/c.go"}, Kept: 1},
		},
		{
			name:   "nothing wanted",
			before: tree{"generated/a/b.go": mark, "cuda/kernels/a.cu": mark, "go.mod": ""},
			after:  tree{"go.mod": "", "cuda/": ""},
			rep:    Report{Removed: []string{"cuda/kernels/a.cu", "generated/a/b.go"}},
		},
		{
			name:   "file becomes folder, folder becomes file",
			before: tree{"generated/a": mark, "generated/b/c/d": mark},
			want:   tree{"generated/a/x": mark, "generated/b": mark},
			after:  tree{"generated/a/x": mark, "generated/b": mark},
			rep:    Report{Written: []string{"generated/a/x", "generated/b"}, Removed: []string{"generated/a", "generated/b/c/d"}},
		},
		{
			name:   "left over, no journal",
			before: tree{"generated/a.go": mark, ".hecategen/lock": "process 1", ".hecategen/new/0": "x", ".hecategen/old/": "", ".hecategen/journal.json.new": "{"},
			want:   tree{"generated/a.go": mark}, after: tree{"generated/a.go": mark},
			rep: Report{Kept: 1},
		},
		{
			name:   "strangers, all named",
			before: tree{"generated/mine.go": "package mine", "generated/x/note.md": "text", "generated/a.go": mark},
			want:   tree{"generated/a.go": mark + "2"},
			err: "generated/mine.go: neither marked as generated nor in the manifest\n\t" +
				"generated/x/note.md: neither marked as generated nor in the manifest",
		},
		{
			name: "a stranger at a wanted name", before: tree{"generated/a.go": "package a\n" + mark},
			want: tree{"generated/a.go": mark}, err: "generated/a.go: neither",
		},
		{
			name: "a stranger's folder name", before: tree{"generated/.git/config": mark},
			want: tree{"generated/a.go": mark}, err: "generated/.git: not a name that the compiler writes",
		},
		{
			name:   "what systems and editors leave stays",
			before: tree{"generated/.DS_Store": "x", "generated/a.go": mark, "generated/b/.a.go.swp": "x", "generated/b/c/d.go": mark, "generated/e/f/a.go~": "x"},
			want:   tree{"generated/a.go": mark + "2"},
			after:  tree{"generated/.DS_Store": "x", "generated/a.go": mark + "2", "generated/b/.a.go.swp": "x", "generated/e/f/a.go~": "x"},
			rep:    Report{Written: []string{"generated/a.go"}, Removed: []string{"generated/b/c/d.go"}},
		},
		{
			name: "link to a file", before: tree{"generated/a.go": "-> ../x.go", "x.go": mark},
			want: tree{"generated/a.go": mark}, err: "generated/a.go: a symbolic link",
		},
		{
			name: "link to a folder", before: tree{"generated/a": "-> ../x", "x/b.go": mark},
			want: tree{"generated/a/b.go": mark + "2"}, err: "generated/a: a symbolic link",
		},
		{
			name: "owned folder is a link", before: tree{"generated": "-> x", "x/": ""},
			want: tree{"generated/a.go": mark}, err: "generated: a symbolic link",
		},
		{
			name: "a link above", before: tree{"cuda": "-> x", "x/": ""},
			want: tree{"cuda/kernels/a.cu": mark}, err: "cuda: a symbolic link",
		},
		{
			name: "owned folder is a file", before: tree{"generated": mark},
			want: tree{"generated/a.go": mark}, err: "generated: a file where a folder is wanted",
		},
		{
			name: "working folder is a link", before: tree{".hecategen": "-> x", "x/": ""},
			want: tree{"generated/a.go": mark}, err: ".hecategen is a symbolic link",
		},
		{
			name: "journal by another hand", before: tree{".hecategen/journal.json": `{"format":1,"owned":["generated"],"steps":[{"path":"go.mod"}]}`},
			want: tree{"generated/a.go": mark}, err: `"go.mod": outside the owned folders; delete .hecategen`,
		},
		{name: "escape", want: tree{"generated/../x": mark}, err: "not a plain relative path"},
		{name: "elsewhere", want: tree{"runtime/x.go": mark}, err: `"runtime/x.go": outside the owned folders`},
		{name: "reserved", want: tree{"generated/.manifest": mark}, err: "the name is reserved"},
		{name: "case", want: tree{"generated/A/x": mark, "generated/a/y": mark}, err: `"generated/A" and "generated/a" differ only in case`},
		{name: "both", want: tree{"generated/a": mark, "generated/a/b": mark}, err: `"generated/a" is both a file and a folder`},
	}
	owned := []string{"generated", "cuda/kernels"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			put(t, root, tt.before)
			rep, err := Apply(root, owned, files(tt.want))
			if tt.after == nil {
				tt.after = get(t, root) // compared with before below
				if diff := cmp.Diff(len(tt.before), len(tt.after)); diff != "" {
					t.Errorf("an error left something behind: %v", tt.after)
				}
				for name, text := range tt.before {
					if tt.after[name] != text {
						t.Errorf("an error changed %s", name)
					}
				}
			}
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("Apply = %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			tt.rep.Recovery = Idle
			if diff := cmp.Diff(tt.rep, rep); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.after, get(t, root)); diff != "" {
				t.Errorf("tree (-want +got):\n%s", diff)
			}
			if d, err := Check(root, owned, files(tt.want)); err != nil || !d.None() {
				t.Errorf("Check after Apply = %v, %v", d, err)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	root, owned := t.TempDir(), []string{"generated"}
	want := files(map[string]string{"generated/new.go": mark, "generated/changed.go": mark, "generated/same.go": mark})
	put(t, root, map[string]string{
		"generated/changed.go": mark + "by hand", "generated/same.go": mark,
		"generated/old/x.go": mark, "generated/mine.go": "package mine",
		".hecategen/journal.json": string(journal{Owned: owned}.encode()),
	})
	before := get(t, root)
	d, err := Check(root, owned, want)
	if err != nil {
		t.Fatal(err)
	}
	const text = `mixed: a run was interrupted (.hecategen/journal.json); generate finishes or undoes it
missing: generated/new.go
changed: generated/changed.go
stale: generated/old/
stale: generated/old/x.go
stray: generated/mine.go: neither marked as generated nor in the manifest
`
	if diff := cmp.Diff(text, d.String()); diff != "" {
		t.Errorf("drift (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, get(t, root)); diff != "" {
		t.Errorf("Check wrote (-before +after):\n%s", diff)
	}
}

// TestCheckLink: where a folder is a link, it is the one thing that is wrong.
func TestCheckLink(t *testing.T) {
	for _, owned := range []string{"generated", "generated/deep"} {
		root := t.TempDir()
		put(t, root, map[string]string{"generated": "-> x", "x/": ""})
		d, err := Check(root, []string{owned}, files(map[string]string{owned + "/a.go": mark}))
		if err == nil || !strings.HasSuffix(err.Error(), "move or delete first:\n\tgenerated: a symbolic link") {
			t.Errorf("Check = %v, %v", d, err)
		}
	}
}

// TestSame: a second run changes nothing, not even for a moment, from any
// working directory.
func TestSame(t *testing.T) {
	root, owned := t.TempDir(), []string{"generated"}
	want := many(0)
	if _, err := Apply(root, owned, want); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-time.Hour)
	stamps := func() map[string]time.Time {
		m := map[string]time.Time{}
		for name := range get(t, root) {
			info, err := os.Lstat(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			m[name] = info.ModTime()
		}
		info, _ := os.Lstat(root)
		m["."] = info.ModTime()
		return m
	}
	for p := range want {
		if err := os.Chtimes(filepath.Join(root, p), long, long); err != nil {
			t.Fatal(err)
		}
	}
	os.Chtimes(root, long, long)
	before := stamps()
	t.Chdir(filepath.Dir(root))
	rep, err := Apply(filepath.Base(root), owned, want)
	if err != nil || rep.Kept != len(want) || rep.Written != nil || rep.Removed != nil {
		t.Fatalf("Apply = %+v, %v", rep, err)
	}
	if !maps.Equal(before, stamps()) {
		t.Error("a run without a difference touched something")
	}
	one := slices.Sorted(maps.Keys(want))[0]
	want[one] = []byte(mark + "new")
	if rep, err = Apply(".", owned, nil); err != nil || rep.Kept != 0 || len(rep.Removed) != 0 {
		t.Fatalf("Apply elsewhere = %+v, %v", rep, err)
	}
	if rep, err = Apply(filepath.Base(root), owned, want); err != nil || !slices.Equal(rep.Written, []string{one}) {
		t.Fatalf("Apply = %v, %v, want %s written", rep.Written, err, one)
	}
	after := stamps()
	for name, was := range before {
		if name != "." && name != one && !after[name].Equal(was) {
			t.Errorf("%s was touched", name)
		}
	}
}
