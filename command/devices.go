package command

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/nl-hecate/hecate/command/internal/machine"
	"github.com/nl-hecate/hecate/command/internal/progress"
	"github.com/nl-hecate/hecate/runtime/catalog"
	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/cuda"
	"github.com/spf13/cobra"
)

// devicesCommand is `hecate devices`.
func devicesCommand(pages *catalog.Catalog) *cobra.Command {
	var asJSON, kernels bool
	c := &cobra.Command{Use: "devices", Short: "Show the instruction sets and the GPUs of this machine", Args: none,
		Long: `Show the instruction sets and the GPUs of this machine, and which images of CUDA kernels
each GPU takes: machine code of its own, that of a lower minor version, or PTX; of kernels
and sizes that have no image, whether NVRTC can compile them.`,
		RunE: func(c *cobra.Command, _ []string) error {
			d := lookAtDevices(pages)
			d.each = kernels
			return show(c.OutOrStdout(), d, asJSON, true)
		}}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&kernels, "kernels", false, "a line for each kernel with an image: the one that each GPU takes, and why")
	return c
}

// devices is what computes on this machine.
type devices struct {
	machine.Info
	GPUs     []cuda.Info
	NoGPU    string  `json:",omitempty"` // why there is none
	Kernels  int     // that this program has for GPUs
	Images   []image `json:",omitempty"`
	Compiler string  `json:",omitempty"` // of kernels: its version, where there is a GPU
	Why      string  `json:",omitempty"` // the kernels cannot be compiled
	each     bool
}

// image is the image of a kernel that a GPU takes, "" for none, and why.
type image struct {
	GPU int `json:"gpu"`
	cuda.Variant
	Target string `json:"target"`
	Why    string `json:"why"`
}

func lookAtDevices(pages *catalog.Catalog) devices {
	d := devices{Info: machine.Look(), GPUs: []cuda.Info{}}
	found, err := cuda.List()
	if err != nil {
		d.NoGPU = err.Error()
		return d
	}
	d.GPUs = found
	l, err := engine.Library(pages)
	if err != nil {
		d.Why = err.Error()
		return d
	}
	d.Kernels = len(l.Names())
	for _, g := range found {
		for _, v := range l.Variants() {
			_, c := l.Chosen(v, g)
			d.Images = append(d.Images, image{g.Index, v, c.Target, c.Why})
		}
	}
	if d.Compiler, err = cuda.CompilerVersion(); err != nil {
		d.Why = err.Error()
	}
	return d
}

func (d devices) String() string {
	var b strings.Builder
	b.WriteString(d.Info.String())
	b.WriteByte('\n')
	if d.NoGPU != "" {
		fmt.Fprintf(&b, "GPU:      none: %s\n", d.NoGPU)
		return b.String()
	}
	for _, g := range d.GPUs {
		fmt.Fprintf(&b, "GPU:      %s\n", g)
		d.images(&b, g.Index)
	}
	fmt.Fprintf(&b, "kernels:  %d, as text", d.Kernels)
	switch {
	case d.Why != "":
		fmt.Fprintf(&b, " that cannot be compiled: %s\n", d.Why)
	default:
		fmt.Fprintf(&b, " that NVRTC %s compiles for the sizes of a model\n", d.Compiler)
	}
	return b.String()
}

// images prints which images a GPU takes: how many for each reason, or a line for each kernel.
func (d devices) images(b *strings.Builder, gpu int) {
	counts := map[[2]string]int{}
	var order [][2]string
	for _, x := range d.Images {
		if x.GPU != gpu {
			continue
		}
		if d.each {
			fmt.Fprintf(b, "  %-12s %s: %s\n", cmp.Or(x.Target, "none"), x.Variant, x.Why)
			continue
		}
		key := [2]string{cmp.Or(x.Target, "none"), x.Why}
		if counts[key]++; counts[key] == 1 {
			order = append(order, key)
		}
	}
	for _, key := range order {
		fmt.Fprintf(b, "  images: %s of %s: %s\n", key[0], progress.Things(counts[key], "kernel"), key[1])
	}
}

// version describes this program.
type version struct {
	Version    string `json:"version"`
	Revision   string `json:"revision,omitempty"` // of the source
	Modified   bool   `json:"modified"`           // whether the source had uncommitted changes
	Go         string `json:"go"`
	Platform   string `json:"platform"`
	Level      string `json:"level"`
	Arithmetic string `json:"arithmetic"`
	Models     []string
}

func (v version) String() string {
	s := "hecate " + v.Version
	if v.Revision != "" {
		s += ", source " + v.Revision
	}
	if v.Modified {
		s += " with changes"
	}
	return fmt.Sprintf("%s\n%s, %s\n%s arithmetic (%s)\nmodels: %s\n", s, v.Go, v.Platform, v.Arithmetic, v.Level, strings.Join(v.Models, ", "))
}

// moduleVersion is the version of the library: the main module, or a dependency of
// another module's program.
func moduleVersion(info *debug.BuildInfo) string {
	const path = "github.com/nl-hecate/hecate"
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return info.Main.Version
}

// versionCommand is `hecate version`.
func versionCommand(maker engine.Maker) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{Use: "version", Short: "Print the version of this program", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			v := version{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
				Level: cpu.Active().String(), Arithmetic: cpu.Active().Arithmetic(), Models: maker.World().Models}
			if info, ok := debug.ReadBuildInfo(); ok {
				v.Version = moduleVersion(info)
				for _, s := range info.Settings {
					switch s.Key {
					case "vcs.revision":
						v.Revision = s.Value
					case "vcs.modified":
						v.Modified = s.Value == "true"
					}
				}
			}
			return show(c.OutOrStdout(), v, asJSON, true)
		}}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
