package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"github.com/nl-hecate/hecate/gen/project"
)

// release is the version under which the working tree is served.
const release = "v0.1.0"

// TestOwnModule runs the commands of the README's section In your own module, as a
// stranger would: in an empty folder outside of this tree, with an empty module cache,
// and with the library from a module proxy. Then it edits the page and goes on.
func TestOwnModule(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the library anew: minutes")
	}
	u := newUser(t)
	for line := range strings.Lines(section(t, "../../README.md", "In your own module")) {
		u.run(strings.TrimSpace(line))
	}
	u.wants("go tool hecategen version", "hecategen "+release+" ")
	u.wants("go tool hecategen generate -n", "generated files are current")
	u.wants("go run ./cmd/hecate version", "FirstModel")

	// An edit that keeps the claims is proved, compiled and tested; one that makes a claim
	// false is refused, and nothing is written.
	u.edit("specs/first_rule.md", "y_t = M_t q_t", "y_t = 2 M_t q_t")
	u.run("go generate ./...")
	u.run("go vet ./...")
	u.run("go test ./generated/... ./specs")
	before := u.snapshot("generated")
	u.edit("specs/first_rule.md", "claim v̄_t = θ_t M̄_t k_t", "claim v̄_t = ρ_t M̄_t k_t")
	u.fails("go generate ./...", "specs/first_rule.md:30:14: error HEC5003")
	if after := u.snapshot("generated"); after != before {
		t.Error("a page with a false claim changed what is generated")
	}
}

// section is the first shell block of a section.
func section(t *testing.T, path, title string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "\n## "+title+"\n")
	_, rest, ok2 := strings.Cut(rest, "```sh\n")
	block, _, ok3 := strings.Cut(rest, "\n```")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("%s has no section %q with a shell block", path, title)
	}
	return regexp.MustCompile(`(?m) +#.*$`).ReplaceAllString(block, "")
}

// A user works in a folder of its own.
type user struct {
	*testing.T
	dir string
	env []string
}

// newUser serves the working tree as a module and makes an empty folder.
func newUser(t *testing.T) *user {
	t.Helper()
	dir := t.TempDir()
	proxy, cache := filepath.Join(dir, "proxy"), filepath.Join(dir, "mod")
	serve(t, proxy)
	t.Cleanup(func() { // the module cache is read-only
		_ = filepath.WalkDir(cache, func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				_ = os.Chmod(p, 0o755)
			}
			return nil
		})
	})
	known := strings.TrimSpace(output(t, "go", "env", "GOMODCACHE"))
	u := &user{T: t, dir: filepath.Join(dir, "home")}
	u.env = append(os.Environ(), "GOMODCACHE="+cache, "GOFLAGS=-trimpath", "GOWORK=off", "GONOSUMDB=*",
		"GOPROXY=file://"+proxy+",file://"+filepath.Join(known, "cache", "download")+","+strings.TrimSpace(output(t, "go", "env", "GOPROXY")),
		"XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "GOCACHE="+strings.TrimSpace(output(t, "go", "env", "GOCACHE")))
	if err := os.Mkdir(u.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return u
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return string(out)
}

// serve lays the files of the working tree out as a module proxy does.
func serve(t *testing.T, proxy string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	list := exec.Command("git", "ls-files", "-co", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		t.Skipf("the tree is no git checkout, so its files are not known: %v", err)
	}
	var files []modzip.File
	for name := range strings.Lines(string(names)) {
		name = strings.TrimSpace(name)
		if info, err := os.Lstat(filepath.Join(root, name)); err == nil && info.Mode().IsRegular() {
			files = append(files, treeFile{root, name})
		}
	}
	dir := filepath.Join(proxy, filepath.FromSlash(project.Library), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	z, err := os.Create(filepath.Join(dir, release+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	if err := modzip.Create(z, module.Version{Path: project.Library, Version: release}, files); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"list": release + "\n", release + ".mod": string(mod),
		release + ".info": fmt.Sprintf(`{"Version": %q, "Time": "2026-01-01T00:00:00Z"}`, release)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A treeFile is a file of the working tree.
type treeFile struct{ root, name string }

func (f treeFile) Path() string                 { return f.name }
func (f treeFile) Lstat() (os.FileInfo, error)  { return os.Lstat(filepath.Join(f.root, f.name)) }
func (f treeFile) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(f.root, f.name)) }

// shell runs a line in the folder, which a line that changes it moves.
func (u *user) shell(line string) (string, error) {
	u.Helper()
	cmd := exec.Command("bash", "-e", "-c", line+" && pwd >"+filepath.Join(filepath.Dir(u.dir), ".pwd"))
	cmd.Dir, cmd.Env = u.dir, u.env
	out, err := cmd.CombinedOutput()
	if err == nil {
		if wd, e := os.ReadFile(filepath.Join(filepath.Dir(u.dir), ".pwd")); e == nil && strings.TrimSpace(string(wd)) != u.dir {
			u.dir = strings.TrimSpace(string(wd))
		}
	}
	return string(out), err
}

// run wants a line to succeed.
func (u *user) run(line string) {
	u.Helper()
	if line == "" {
		return
	}
	out, err := u.shell(line)
	u.Logf("$ %s\n%s", line, out)
	if err != nil {
		u.Fatalf("%s: %v", line, err)
	}
}

// wants wants a line to print something.
func (u *user) wants(line, text string) {
	u.Helper()
	if out, err := u.shell(line); err != nil || !strings.Contains(out, text) {
		u.Fatalf("%s: %v\n%s\nwant %q", line, err, out, text)
	}
}

// fails wants a line to fail with a message.
func (u *user) fails(line, text string) {
	u.Helper()
	if out, err := u.shell(line); err == nil || !strings.Contains(out, text) {
		u.Fatalf("%s: %v\n%s\nwant a failure with %q", line, err, out, text)
	}
}

// edit replaces a text that occurs in a file once.
func (u *user) edit(name, old, new string) {
	u.Helper()
	path := filepath.Join(u.dir, name)
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), old) != 1 {
		u.Fatalf("%s: %v, %q stands there %d times", name, err, old, strings.Count(string(text), old))
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o644); err != nil {
		u.Fatal(err)
	}
}

// snapshot is the content of a folder as text.
func (u *user) snapshot(dir string) string {
	u.Helper()
	var b strings.Builder
	err := filepath.WalkDir(filepath.Join(u.dir, dir), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		fmt.Fprintf(&b, "-- %s --\n%s", p, text)
		return err
	})
	if err != nil {
		u.Fatal(err)
	}
	return b.String()
}
