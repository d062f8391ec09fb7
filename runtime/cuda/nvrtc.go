//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// A compiler is NVRTC, the library that makes machine code of a kernel's text.
type compiler struct {
	path    string
	version string
	mu      sync.Mutex // it is called by one goroutine at a time

	versionOf, errorText, create, destroy, compile function
	logSize, log, codeSize, code, ptxSize, ptx     function
	archCount, archs                               function
}

func (c *compiler) functions() []*function {
	name := func(f *function, name string) *function { f.name = name; return f }
	optional := func(f *function, name string) *function { f.name, f.optional = name, true; return f }
	return []*function{
		name(&c.versionOf, "nvrtcVersion"), name(&c.errorText, "nvrtcGetErrorString"), name(&c.create, "nvrtcCreateProgram"),
		name(&c.destroy, "nvrtcDestroyProgram"), name(&c.compile, "nvrtcCompileProgram"), name(&c.logSize, "nvrtcGetProgramLogSize"),
		name(&c.log, "nvrtcGetProgramLog"), name(&c.codeSize, "nvrtcGetCUBINSize"), name(&c.code, "nvrtcGetCUBIN"),
		name(&c.ptxSize, "nvrtcGetPTXSize"), name(&c.ptx, "nvrtcGetPTX"),
		optional(&c.archCount, "nvrtcGetNumSupportedArchs"), optional(&c.archs, "nvrtcGetSupportedArchs"),
	}
}

// compilerPaths are where NVRTC may be: where HECATE_NVRTC says, where the loader looks, and in
// the packages of Python.
func compilerPaths() []string {
	if named := os.Getenv("HECATE_NVRTC"); named != "" {
		return []string{named}
	}
	return libraryPaths("libnvrtc.so", []string{"13", "12", "11.2"}, "cuda_nvrtc")
}

// libraryPaths are where a library of the toolkit may be: where the loader looks, by its versions, and in
// the packages of Python.
func libraryPaths(name string, versions []string, pack string) (out []string) {
	for _, v := range versions {
		out = append(out, name+"."+v)
	}
	roots := []string{os.Getenv("VIRTUAL_ENV"), os.Getenv("CONDA_PREFIX"), "/usr/local", "/usr"}
	if home, err := os.UserHomeDir(); err == nil {
		roots = append(roots, filepath.Join(home, ".local"))
	}
	for _, root := range roots {
		if root == "" {
			continue
		}
		for _, site := range []string{"site-packages", "dist-packages"} {
			for _, dir := range []string{"cu13", pack} {
				found, _ := filepath.Glob(filepath.Join(root, "lib", "python3*", site, "nvidia", dir, "lib", name+".*"))
				out = append(out, found...)
			}
		}
	}
	return out
}

// errNoCompiler says that there is no NVRTC.
var errNoCompiler = errors.New("there is no NVRTC: install it, as by pip install nvidia-cuda-nvrtc-cu12, or name libnvrtc.so in HECATE_NVRTC; or run hecate images where it is, and name its file in HECATE_IMAGES")

// openCompiler opens NVRTC, once in a process.
var openCompiler = sync.OnceValues(func() (*compiler, error) {
	for _, path := range compilerPaths() {
		if dir := filepath.Dir(path); dir != "." { // its other half is beside it, where the loader does not look
			parts, _ := filepath.Glob(filepath.Join(dir, "libnvrtc-builtins.so*"))
			for _, p := range parts {
				openLibrary(p, purego.RTLD_GLOBAL)
			}
		}
		handle, err := openLibrary(path, purego.RTLD_LOCAL)
		if err != nil {
			if os.Getenv("HECATE_NVRTC") != "" {
				return nil, fmt.Errorf("HECATE_NVRTC is no NVRTC: %w", err)
			}
			continue
		}
		c := &compiler{path: path}
		for _, f := range c.functions() {
			at, err := purego.Dlsym(handle, f.name)
			if err != nil && !f.optional {
				return nil, fmt.Errorf("%s is no NVRTC that can be used: it has no %s", path, f.name)
			}
			if err == nil {
				f.at = at
			}
		}
		var major, minor int32
		if err := c.call(&c.versionOf, uintptr(unsafe.Pointer(&major)), uintptr(unsafe.Pointer(&minor))); err != nil {
			return nil, err
		}
		c.version = fmt.Sprintf("%d.%d", major, minor)
		return c, nil
	}
	return nil, errNoCompiler
})

// CompilerVersion is the version of NVRTC, as in 12.8; the error says why there is none.
func CompilerVersion() (string, error) {
	c, err := openCompiler()
	if err != nil {
		return "", err
	}
	return c.version, nil
}

// Compiles says why kernels cannot be compiled for a device: there is no NVRTC, or it does not know the machine.
func Compiles(i Info) error {
	c, err := openCompiler()
	if err == nil && !c.supports(i) {
		err = c.tooOld()
	}
	return err
}

// tooOld is the error of a compiler that does not know a machine.
func (c *compiler) tooOld() error {
	return fmt.Errorf("NVRTC %s does not know this machine, a newer one is needed", c.version)
}

// call calls a function of the compiler, as driver.call does.
//
//go:uintptrescapes
func (c *compiler) call(f *function, args ...uintptr) error {
	r, _, _ := purego.SyscallN(f.at, args...)
	if code := int32(r); code != 0 {
		text, _, _ := purego.SyscallN(c.errorText.at, uintptr(code))
		return fmt.Errorf("NVRTC %s: %s: %s", c.version, f.name, cString((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&text)))))
	}
	return nil
}

// supports reports whether the compiler knows a machine; an old one does not say.
func (c *compiler) supports(i Info) bool {
	var n int32
	if c.archCount.at == 0 || c.archs.at == 0 || c.call(&c.archCount, uintptr(unsafe.Pointer(&n))) != nil || n <= 0 {
		return true
	}
	list := make([]int32, n)
	if c.call(&c.archs, uintptr(unsafe.Pointer(&list[0]))) != nil {
		return true
	}
	return slices.Contains(list, int32(10*i.Major+i.Minor))
}

// compileText makes an image of a text for a target: machine code for sm_90, PTX for compute_80. name is the text's in messages.
func (c *compiler) compileText(name, text, header, sizes, target string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var keep [][]byte
	str := func(s string) *byte {
		b := append([]byte(s), 0)
		keep = append(keep, b)
		return &b[0]
	}
	defer runtime.KeepAlive(&keep)
	headers, names := []*byte{str(header)}, []*byte{str(headerName)}
	options := []*byte{str("--gpu-architecture=" + target), str("--std=c++17")}
	if sizes != "" {
		options = append(options, str("-DHECATE_SIZES="+sizes))
	}
	var program uintptr
	if err := c.call(&c.create, uintptr(unsafe.Pointer(&program)), uintptr(unsafe.Pointer(str(text))), uintptr(unsafe.Pointer(str(name))), 1,
		uintptr(unsafe.Pointer(&headers[0])), uintptr(unsafe.Pointer(&names[0]))); err != nil {
		return nil, err
	}
	defer c.call(&c.destroy, uintptr(unsafe.Pointer(&program)))
	err := c.call(&c.compile, program, uintptr(len(options)), uintptr(unsafe.Pointer(&options[0])))
	if err != nil {
		if log, e := c.read(&c.logSize, &c.log, program); e == nil {
			line, _, _ := strings.Cut(strings.TrimSpace(string(bytes.TrimRight(log, "\x00"))), "\n")
			err = fmt.Errorf("%w: %s", err, line)
		}
		return nil, err
	}
	if _, ok := capability(target, "compute_"); ok {
		return c.read(&c.ptxSize, &c.ptx, program)
	}
	return c.read(&c.codeSize, &c.code, program)
}

// read reads what a program has.
func (c *compiler) read(size, data *function, program uintptr) ([]byte, error) {
	var n uint64
	if err := c.call(size, program, uintptr(unsafe.Pointer(&n))); err != nil {
		return nil, err
	}
	out := make([]byte, max(n, 1))
	if err := c.call(data, program, uintptr(unsafe.Pointer(&out[0]))); err != nil {
		return nil, err
	}
	return out[:n], nil
}
