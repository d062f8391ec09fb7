package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/nl-hecate/hecate/command/internal/progress"
	"github.com/nl-hecate/hecate/runtime/catalog"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/cuda"
	"github.com/nl-hecate/hecate/runtime/cuda/verify"
	"github.com/spf13/cobra"
)

const imagesLong = `Compile the CUDA kernels of builds for GPUs, with NVRTC.

A kernel is compiled for the sizes of a model. hecate build does so where it runs, if
NVRTC is there. This command does so before: for the build that -c, --preset or the flags
describe, it writes the images of all its kernels for each target into a file.
HECATE_IMAGES names that file to a program on a machine without NVRTC; a program can also
have it built in (catalog.WithImages). No GPU is needed.

A GPU takes the machine code that is its own, else that of the nearest lower minor version,
else PTX, which its driver translates; hecate devices shows which and why.`

// compilation is the options of `hecate images`.
type compilation struct {
	settings
	targets       []string
	out           string
	presets, list bool
	verify        bool
}

// imagesCommand is `hecate images`.
func imagesCommand(maker engine.Maker, pages *catalog.Catalog) *cobra.Command {
	var x compilation
	c := &cobra.Command{Use: "images [-c run.toml | --preset NAME] [flags]", Short: "Compile the CUDA kernels of a build for GPUs", Long: imagesLong, Args: none,
		RunE: func(c *cobra.Command, _ []string) error { return x.run(c, maker, pages) }}
	x.flags(c, maker)
	f := c.Flags()
	f.StringSliceVar(&x.targets, "targets", cuda.Targets, "the `machines`: sm_ and a compute capability for machine code, compute_ for PTX")
	f.StringVarP(&x.out, "output", "o", "out/images.zip", "the `file`")
	f.BoolVar(&x.presets, "presets", false, "for all presets, too")
	f.BoolVar(&x.verify, "verify", false, "for hecate verify, too")
	f.BoolVar(&x.list, "list", false, "print the kernels with their sizes, and compile nothing")
	return c
}

func (x *compilation) run(c *cobra.Command, maker engine.Maker, pages *catalog.Catalog) error {
	for _, t := range x.targets {
		if !cuda.IsTarget(t) {
			return misuse{fmt.Errorf("--targets has %q, must be of the form sm_90 or compute_80", t)}
		}
	}
	variants, err := x.variants(maker, pages)
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	if x.list {
		for _, v := range variants {
			if _, err := fmt.Fprintln(out, v); err != nil {
				return err
			}
		}
		return nil
	}
	l, err := engine.Library(pages)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(x.out), 0o755); err != nil {
		return err
	}
	var data bytes.Buffer
	bar, n, all := progress.New(c.ErrOrStderr()), 0, len(variants)*len(x.targets)
	err = cuda.WriteImages(c.Context(), &data, l, variants, x.targets, func(v cuda.Variant, target string) {
		bar.Set(float64(n)/float64(all), func() string { return fmt.Sprintf("%s for %s", v, target) })
		n++
	})
	bar.Done()
	if err != nil {
		return err
	}
	if err := checkpoint.WriteFile(x.out, data.Bytes()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s for %s: %s bytes in %s\n", progress.Things(len(variants), "kernel"), strings.Join(x.targets, ", "), progress.Count(data.Len()), x.out)
	return err
}

// ofWords is in a preset whose tokenizer is the user's. Its images are for the vocabulary with which
// make presets measures it.
var ofWords = []byte(`kind = "text"`)

// variants are the kernels of all builds with their sizes, each once.
func (x *compilation) variants(maker engine.Maker, pages *catalog.Catalog) (all []cuda.Variant, err error) {
	builds := []settings{x.settings}
	if x.presets {
		for _, name := range presetNames {
			s := settings{preset: name}
			if data, err := preset(name); err == nil && bytes.Contains(data, ofWords) {
				s.sets = []config.Set{{Flag: "--presets", Key: "stream.kind", Value: "bytes"}, {Flag: "--presets", Key: "model.sizes.V", Value: "4096"}}
			}
			builds = append(builds, s)
		}
	}
	for _, s := range builds {
		conf, err := s.load(maker)
		if err != nil {
			return nil, err
		}
		needs, err := maker.Needs(conf)
		if err != nil {
			return nil, err
		}
		all = append(all, needs.Kernels...)
	}
	if x.verify {
		l, err := engine.Library(pages)
		if err != nil {
			return nil, err
		}
		more, err := (&verify.Options{}).Variants(l)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	slices.SortFunc(all, cuda.CompareVariants)
	return slices.Compact(all), nil
}
