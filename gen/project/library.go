package project

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// Library is the import path of the library that generated code uses.
const Library = "github.com/nl-hecate/hecate"

// Compiler is the import path of the compiler's command.
const Compiler = Library + "/cmd/hecategen"

// Version is the version of this build of the library, as the Go command recorded it:
// v0.1.0, a pseudo-version, or (devel).
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return devel
	}
	if info.Main.Path == Library && info.Main.Version != "" {
		return info.Main.Version
	}
	for _, d := range info.Deps {
		if d.Path == Library && d.Replace == nil && d.Version != "" {
			return d.Version
		}
	}
	return devel
}

const devel = "(devel)"

// ErrNotRequired is wrapped by the error of Fits for a module that does not require the
// library. Its pages can be checked, but what they become cannot be compiled there.
var ErrNotRequired = errors.New("does not require")

// Fits reports an error if the module requires another version of the library than
// this program was built from: its code would be made for a runtime that it does not
// get. own are the library's pages as this program has them. Where one of the two has
// no version, the pages themselves are compared.
func (p *Project) Fits(own fs.FS) error {
	tool := Version()
	switch {
	case p.Standalone:
		return nil
	case p.library == "" && p.replace == "":
		return fmt.Errorf("%s %w %s; run `go get -tool %s`", filepath.Join(p.Root, "go.mod"), ErrNotRequired, Library, Compiler)
	case p.replace == "" && tool == p.library:
		return nil
	case p.replace == "" && tool != devel:
		return fmt.Errorf("%s requires %s %s, and this hecategen is of %s; run `go tool hecategen`, or `go get %s@%s`",
			filepath.Join(p.Root, "go.mod"), Library, p.library, tool, Library, tool)
	}
	dir, err := p.folder()
	if err != nil {
		return err
	}
	theirs, err := Digest(os.DirFS(dir))
	if err != nil {
		return fmt.Errorf("read the pages of %s in %s: %w", Library, dir, err)
	}
	if ours, err := Digest(own); err != nil || ours != theirs {
		return fmt.Errorf("the library in %s, which %s requires, has other pages than this hecategen (%s); run `go tool hecategen`",
			dir, filepath.Join(p.Root, "go.mod"), tool)
	}
	return nil
}

// folder is the folder of the required library.
func (p *Project) folder() (string, error) {
	mod := filepath.Join(p.Root, "go.mod")
	if p.replace != "" && (filepath.IsAbs(p.replace) || strings.HasPrefix(p.replace, ".")) {
		dir := p.replace
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(p.Root, filepath.FromSlash(dir))
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return "", fmt.Errorf("%s replaces %s by %s, and there is no such folder", mod, Library, p.replace)
		}
		return dir, nil
	}
	// The folder vendor has no pages, and a query must not change go.mod.
	cmd := exec.Command("go", "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", Library)
	cmd.Dir = p.Root
	text, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("`%s` in %s: %w", strings.Join(cmd.Args, " "), p.Root, err)
	}
	dir := strings.TrimSpace(string(text))
	if dir == "" {
		return "", fmt.Errorf("%s requires %s, which is not on this machine; run `go mod download`", mod, Library)
	}
	return dir, nil
}

// Digest is a hash of the pages in the folder specs of a file system.
func Digest(files fs.FS) (string, error) {
	pages, err := Pages(files)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, p := range pages {
		fmt.Fprintf(h, "%q %d\n%s", p.Path, len(p.Text), p.Text)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// A Page is a page of the library.
type Page struct{ Path, Text string }

// Pages are the pages in the folder specs of a file system, in the order of their paths.
func Pages(files fs.FS) (out []Page, err error) {
	err = fs.WalkDir(files, "specs", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".md") {
			return err
		}
		text, err := fs.ReadFile(files, name)
		out = append(out, Page{name, string(text)})
		return err
	})
	slices.SortFunc(out, func(a, b Page) int { return strings.Compare(a.Path, b.Path) })
	return out, err
}
