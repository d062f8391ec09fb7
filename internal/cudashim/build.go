package cudashim

// How a program is made.
//
// Each source gets a translation unit of its own: the source's text, then a
// table of its kernels, which are found by their HECATE_KERNEL. The shim's own
// files are compiled without a sanitizer, once per machine. Whatever is made is
// made next to its target and moved there, so that two tests that want the same
// thing at the same time do no harm.

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/nl-hecate/hecate/cuda"
)

// compiler is the one C++ compiler that is tried; clang has no
// -fsanitize=thread that g++'s runtime understands.
const compiler = "g++"

// common are the flags of every file. No product is fused into a sum against the
// text's back, and unset variables hold 0xfe bytes.
var common = []string{"-std=c++17", "-DHECATE_SHIM", "-ffp-contract=off", "-fno-strict-aliasing"}

var kernelFlags = []string{"-O1", "-w", "-ftrivial-auto-var-init=pattern"}

var shimFlags = []string{"-O2", "-Wall", "-Wextra", "-Werror"}

// modes are the flags of kernels, of the shim, and of the link.
var modes = []struct {
	name               string
	kernel, shim, link []string
}{
	Plain: {name: "plain"},
	ASan:  {"asan", []string{"-fsanitize=address", "-g1"}, []string{"-DHECATE_ASAN"}, []string{"-fsanitize=address"}},
	TSan:  {"tsan", []string{"-fsanitize=thread", "-g1"}, []string{"-DHECATE_TSAN"}, []string{"-fsanitize=thread"}},
}

// units are the shim's translation units.
var units = []string{"block", "fiber", "launch", "main", "memory", "program", "report", "warp"}

// A Binary is a compiled program.
type Binary struct {
	path string
	mode Mode
}

// Build compiles sources for a mode, or finds what was compiled before. It
// fails with the compiler's text.
func Build(mode Mode, sources ...Source) (*Binary, error) {
	return build(mode, nil, sources)
}

// build is Build with flags more, for all files.
func build(mode Mode, more []string, sources []Source) (*Binary, error) {
	if mode < 0 || int(mode) >= len(modes) {
		return nil, fmt.Errorf("cudashim: there is no %v", mode)
	}
	w, err := openWorkshop(mode, more)
	if err != nil {
		return nil, err
	}
	var named []string
	for _, s := range sources {
		if !fileName.MatchString(s.Name) {
			return nil, fmt.Errorf("cudashim: %q is no name of a source", s.Name)
		}
		named = append(named, s.Name, s.Text)
	}
	at := filepath.Join(w.cache, "program-"+w.hash(named...))
	err = once(at, func() error {
		prune(w.cache)
		return w.program(at, sources)
	})
	if err != nil {
		return nil, err
	}
	used(at)
	return &Binary{at, mode}, nil
}

var fileName = regexp.MustCompile(`^\w[\w.-]*\.cu$`)

// A workshop is where programs of a mode are made.
type workshop struct {
	cache string // everything that is kept
	text  string // the folder with include and shim
	mode  Mode
	more  []string // flags of all files
	seed  string   // what every hash begins with
}

func openWorkshop(mode Mode, more []string) (*workshop, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("cudashim: %w", err)
	}
	version, err := compilerVersion()
	if err != nil {
		return nil, err
	}
	w := &workshop{cache: filepath.Join(user, "hecate", "cudashim"), mode: mode, more: more}
	if err := os.MkdirAll(w.cache, 0o755); err != nil {
		return nil, fmt.Errorf("cudashim: %w", err)
	}
	parts := []string{version, fmt.Sprint(common, kernelFlags, shimFlags, modes[mode], more)}
	err = eachText(func(name string, data []byte) error {
		parts = append(parts, name, string(data))
		return nil
	})
	if err != nil {
		return nil, err
	}
	w.seed = w.hash(parts...)
	w.text = filepath.Join(w.cache, "text-"+w.hash())
	if err := once(w.text, func() error { return writeText(w.text) }); err != nil {
		return nil, err
	}
	used(w.text)
	return w, nil
}

// oldest is the first g++ that can give unset variables a value.
const oldest = 12

// compilerVersion is queried once. It fails where there is no g++, or an old one.
var compilerVersion = sync.OnceValues(func() (string, error) {
	major, err := exec.Command(compiler, "-dumpversion").Output()
	if err != nil {
		return "", fmt.Errorf("cudashim: there is no %s: %w", compiler, err)
	}
	version, _, _ := strings.Cut(strings.TrimSpace(string(major)), ".")
	if n, err := strconv.Atoi(version); err != nil || n < oldest {
		return "", fmt.Errorf("cudashim: %s is version %s; kernels want %d or later", compiler, version, oldest)
	}
	full, err := exec.Command(compiler, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("cudashim: %s does not run: %w", compiler, err)
	}
	return string(full), nil
})

func eachText(visit func(name string, data []byte) error) error {
	return fs.WalkDir(cuda.Text, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := cuda.Text.ReadFile(name)
		if err != nil {
			return err
		}
		return visit(name, data)
	})
}

func writeText(to string) error {
	return replace(to, func(dir string) error {
		return eachText(func(name string, data []byte) error {
			at := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				return err
			}
			return os.WriteFile(at, data, 0o644)
		})
	})
}

// hash names what is made from the given parts in this workshop.
func (w *workshop) hash(parts ...string) string {
	h := sha256.New()
	for _, p := range append([]string{w.seed}, parts...) {
		fmt.Fprintf(h, "%d\n%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))[:24]
}

// program compiles and links.
func (w *workshop) program(at string, sources []Source) error {
	shim := filepath.Join(w.cache, "shim-"+w.hash("shim"))
	if err := once(shim, func() error { return w.shim(shim) }); err != nil {
		return err
	}
	used(shim)
	return replace(at, func(dir string) error {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		var objects []string
		var jobs []func() error
		for i, s := range sources {
			glue, err := table(s)
			if err != nil {
				return err
			}
			name := fmt.Sprintf("unit%d.cpp", i)
			if err := errors.Join(os.WriteFile(filepath.Join(dir, s.Name), []byte(s.Text), 0o644), os.WriteFile(filepath.Join(dir, name), []byte(glue), 0o644)); err != nil {
				return err
			}
			objects = append(objects, fmt.Sprintf("unit%d.o", i))
			jobs = append(jobs, func() error {
				return w.compile(dir, name, fmt.Sprintf("unit%d.o", i), kernelFlags, modes[w.mode].kernel)
			})
		}
		if err := together(jobs); err != nil {
			return err
		}
		for _, u := range units {
			objects = append(objects, filepath.Join(shim, u+".o"))
		}
		args := append([]string{"-o", "program"}, objects...)
		if err := run(dir, append(args, modes[w.mode].link...)); err != nil {
			return err
		}
		for i := range sources {
			os.Remove(filepath.Join(dir, fmt.Sprintf("unit%d.o", i)))
		}
		return nil
	})
}

// shim compiles the shim's own files.
func (w *workshop) shim(at string) error {
	return replace(at, func(dir string) error {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		var jobs []func() error
		for _, u := range units {
			jobs = append(jobs, func() error {
				return w.compile(dir, filepath.Join(w.text, "shim", u+".cpp"), u+".o", shimFlags, modes[w.mode].shim)
			})
		}
		return together(jobs)
	})
}

// compile makes an object. Reports name files as the text does.
func (w *workshop) compile(dir, from, to string, flags ...[]string) error {
	args := []string{"-c", from, "-o", to, "-I" + filepath.Join(w.text, "include"), "-I" + filepath.Join(w.text, "shim"),
		"-ffile-prefix-map=" + filepath.Join(w.text, "include") + "/="}
	for _, f := range append(flags, common, w.more) {
		args = append(args, f...)
	}
	return run(dir, args)
}

var (
	comments  = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
	kernelTag = regexp.MustCompile(`\bHECATE_KERNEL\(([^()]*)\)\s*(\w+)\s*\(`)
)

// table is the translation unit of a source: its text and the table of its
// kernels.
func table(s Source) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "#include %q\n#include \"entry.h\"\n", s.Name)
	found := kernelTag.FindAllStringSubmatch(comments.ReplaceAllString(s.Text, ""), -1)
	if len(found) == 0 {
		return "", fmt.Errorf("cudashim: %s has no HECATE_KERNEL", s.Name)
	}
	for i, m := range found {
		fmt.Fprintf(&b, "static const hecate_shim::Entry<%s> hecate_entry_%d(%q, %s);\n", m[2], i, m[2], m[1])
	}
	return b.String(), nil
}

// run runs the compiler.
func run(dir string, args []string) error {
	cmd := exec.Command(compiler, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("cudashim: %s %s: %w\n%s", compiler, path.Base(args[1]), err, out)
	}
	return nil
}
