package tree

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestChangedSince: a hand in the tree between a kill and the next run.
func TestChangedSince(t *testing.T) {
	before := map[string]string{"g/a.go": mark + "1", "g/b.go": mark + "1", "g/t.json": "1", "g/.manifest": list + "t.json\n"}
	after := map[string]string{"g/a.go": mark + "2", "g/b.go": mark + "2", "g/u.json": "2"}
	owned := []string{"g"}
	tests := []struct {
		name  string
		hand  map[string]string // what it writes
		clear string            // what it removes
		rec   string            // Recover's answer
		apply Recovery
		err   string
	}{
		{name: "nothing", rec: "finished", apply: Finished},
		{name: "a file taken away", clear: "g/b.go", rec: "finished", apply: Finished},
		{name: "put back the old", hand: map[string]string{"g/a.go": mark + "1"}, rec: "undone", apply: Undone},
		{name: "an edit", hand: map[string]string{"g/b.go": mark + "mine"}, rec: "g/b.go: changed by another hand", apply: Abandoned},
		{name: "all taken away", clear: "g", rec: "undone", apply: Undone},
		{name: "a stranger", hand: map[string]string{"g/b.go": "mine"}, rec: "g/b.go: changed by another hand", err: "g/b.go: neither marked"},
		{name: "a link", clear: "g/b.go", hand: map[string]string{"g/b.go": "-> a.go"}, rec: "g/b.go: changed by another hand", err: "g/b.go: a symbolic link"},
		{name: "staged bytes lost", clear: ".hecategen/new", rec: "undone", apply: Undone},
		{name: "all staging lost", clear: ".hecategen/new", hand: map[string]string{".hecategen/old/0": "?", ".hecategen/old/1": "?"}, rec: "missing or damaged", apply: Abandoned},
	}
	for _, tt := range tests {
		for _, cure := range []string{"Recover", "Apply"} {
			t.Run(cure+" "+tt.name, func(t *testing.T) {
				root := t.TempDir()
				put(t, root, before)
				f := &fault{mode: "kill", at: 1 << 20}
				// Killed once the first target has been replaced.
				stop := func(real disk) disk {
					broken := f.wrap(real)
					return func(o op) error {
						err := broken(o)
						if o.verb == rename && o.to == "g/a.go" {
							f.at = 0
						}
						return err
					}
				}
				if _, err := apply(root, owned, files(after), stop); err == nil {
					t.Fatal("Apply was not killed")
				}
				if tt.clear != "" {
					os.RemoveAll(root + "/" + tt.clear)
				}
				for name := range tt.hand {
					os.Remove(root + "/" + name)
				}
				put(t, root, tt.hand)
				broken := get(t, root)
				if cure == "Recover" {
					out, err := Recover(root)
					if got := fmt.Sprint(out, " ", err); !strings.Contains(got, tt.rec) {
						t.Errorf("Recover = %s, want %q", got, tt.rec)
					}
					return
				}
				rep, err := Apply(root, owned, files(after))
				if tt.err != "" {
					if err == nil || !strings.Contains(err.Error(), tt.err) {
						t.Errorf("Apply = %v, want %q", err, tt.err)
					}
					got := get(t, root)
					delete(broken, workDir+"/"+lockName)
					delete(got, workDir+"/"+lockName)
					if diff := cmp.Diff(broken, got); diff != "" {
						t.Errorf("a refused Apply wrote (-before +after):\n%s", diff)
					}
					return
				}
				if err != nil || rep.Recovery != tt.apply {
					t.Errorf("Apply = %v, %v, want %v", rep.Recovery, err, tt.apply)
				}
				want := maps.Clone(after)
				want["g/.manifest"] = list + "u.json\n"
				if diff := cmp.Diff(want, get(t, root)); diff != "" {
					t.Errorf("tree (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestChangedMeanwhile: a hand in the tree between the look and the first step.
func TestChangedMeanwhile(t *testing.T) {
	root := t.TempDir()
	put(t, root, map[string]string{"g/a.go": mark, "g/b.go": mark})
	hand := func(real disk) disk {
		return func(o op) error {
			if o.verb == syncDir && o.path == newDir {
				put(t, root, map[string]string{"g/b.go": "mine"})
			}
			return real(o)
		}
	}
	_, err := apply(root, []string{"g"}, files(map[string]string{"g/a.go": mark + "2", "g/b.go": mark + "2"}), hand)
	if err == nil || !strings.Contains(err.Error(), "nothing changed: g/b.go: changed by another hand") {
		t.Errorf("Apply = %v, want a refusal", err)
	}
	if diff := cmp.Diff(map[string]string{"g/a.go": mark, "g/b.go": "mine"}, get(t, root)); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
}
