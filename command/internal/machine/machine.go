// Package machine describes the processor of this machine.
package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/nl-hecate/hecate/runtime/cpu"
	xcpu "golang.org/x/sys/cpu"
)

// Info is the description.
type Info struct {
	OS, Arch, Go string
	CPU          string   // the model's name, empty if unknown
	Cores        int      // that this process may use at once
	Features     []string // of the CPU, those that kernels ask for
	Caches       []Cache
	Levels       []Level
	Forced       string // by the environment variable, if it is set
}

// Cache is a cache of the first core.
type Cache struct {
	Level      int
	Kind, Size string
	Shared     string // the cores that share it
}

// Level is an instruction set that kernels are made for.
type Level struct {
	Name, Arithmetic string
	Why              string // the reason it cannot run here; empty if it can
	Active           bool
}

// Look returns the description of this machine.
func Look() Info {
	m := Info{OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version(), Cores: runtime.GOMAXPROCS(0), CPU: cpuName(),
		Features: features(), Caches: caches("/sys/devices/system/cpu/cpu0/cache"), Forced: os.Getenv(cpu.Env)}
	active := cpu.Active()
	for _, l := range cpu.Targets() {
		restore, err := cpu.Force(l)
		restore()
		x := Level{Name: l.String(), Arithmetic: l.Arithmetic(), Active: l == active}
		if err != nil {
			x.Why = strings.TrimPrefix(err.Error(), "cpu: target "+l.String()+": ")
		}
		m.Levels = append(m.Levels, x)
	}
	return m
}

// features are those of the CPU that kernels ask for.
func features() (out []string) {
	for _, f := range []struct {
		name string
		has  bool
	}{{"AVX2", xcpu.X86.HasAVX2}, {"FMA", xcpu.X86.HasFMA}, {"AVX512F", xcpu.X86.HasAVX512F}, {"AVX512DQ", xcpu.X86.HasAVX512DQ},
		{"AVX512VL", xcpu.X86.HasAVX512VL}, {"AVX512BW", xcpu.X86.HasAVX512BW}, {"ASIMD", xcpu.ARM64.HasASIMD}} {
		if f.has {
			out = append(out, f.name)
		}
	}
	return out
}

// cpuName is the name of the CPU under Linux.
func cpuName() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// caches reads a folder in which Linux describes a core's caches.
func caches(dir string) (out []Cache) {
	found, err := filepath.Glob(filepath.Join(dir, "index*"))
	if err != nil {
		return nil
	}
	for _, d := range found {
		read := func(name string) string {
			b, err := os.ReadFile(filepath.Join(d, name))
			if err != nil {
				return ""
			}
			return strings.TrimSpace(string(b))
		}
		var c Cache
		if _, err := fmt.Sscan(read("level"), &c.Level); err != nil {
			continue
		}
		c.Kind, c.Size, c.Shared = strings.ToLower(read("type")), read("size"), read("shared_cpu_list")
		out = append(out, c)
	}
	return out
}

// String prints it for people.
func (m Info) String() string {
	var b strings.Builder
	name := m.CPU
	if name == "" {
		name = "unknown"
	}
	fmt.Fprintf(&b, "system:   %s/%s, %s\nCPU:      %s\ncores:    %d\n", m.OS, m.Arch, m.Go, name, m.Cores)
	if len(m.Features) > 0 {
		fmt.Fprintf(&b, "features: %s\n", strings.Join(m.Features, " "))
	}
	for _, c := range m.Caches {
		fmt.Fprintf(&b, "cache:    L%d %s, %s, of cores %s\n", c.Level, c.Kind, c.Size, c.Shared)
	}
	b.WriteString("\ntarget    arithmetic\n")
	for _, l := range m.Levels {
		note := ""
		switch {
		case l.Active && m.Forced != "":
			note = "chosen by " + cpu.Env + "=" + m.Forced
		case l.Active:
			note = "chosen"
		case l.Why != "":
			note = "no: " + l.Why
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-9s %-10s  %s", l.Name, l.Arithmetic, note), " ") + "\n")
	}
	return b.String()
}
