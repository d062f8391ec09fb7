package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/command/internal/progress"
	"github.com/nl-hecate/hecate/runtime/catalog"
	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/cuda"
	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/module"
)

// A place is where a model computes.
type place struct {
	memory     device.Memory // nil: the processor
	arithmetic string
	name       string
	why        string // the processor, where a GPU was asked for if there is one
	gpu        *cuda.Opened
	library    *cuda.Library // of the GPU
	close      func() error
}

// place opens a device by its name. The processor takes the place of a GPU only for
// auto, and then says why.
func (m *Modules) place(device string) (*place, error) {
	n, ok := config.GPU(device)
	if !ok {
		return processor(""), nil
	}
	l, err := Library(m.Catalog)
	if err != nil {
		return nil, err
	}
	d, err := cuda.OpenMemory(n, l)
	if err != nil && device == "auto" {
		return processor(err.Error()), nil
	}
	if err != nil {
		return nil, err
	}
	if err := cuda.Compiles(d.Info); err != nil && device == "auto" && !hasImage(l, d.Info) {
		return processor(fmt.Sprintf("this program has no image of a kernel for %s; and %v", d.Info, err)), d.Close()
	}
	return &place{memory: d.Memory, arithmetic: d.Memory.String(), name: d.Info.String(), gpu: d, library: l, close: d.Close}, nil
}

// hasImage reports whether any image runs on a GPU.
func hasImage(l *cuda.Library, i cuda.Info) bool {
	return slices.ContainsFunc(l.Variants(), func(v cuda.Variant) bool {
		from, _ := l.Chosen(v, i)
		return from != nil
	})
}

// processor is the processor; why says why it takes the place of a GPU.
func processor(why string) *place {
	return &place{arithmetic: cpu.Active().Arithmetic(), name: cpu.Active().String(), why: why, close: func() error { return nil }}
}

// Open opens a device by its name, for programs that make modules themselves; memory is nil, and why says
// why, where the processor computes.
func (m *Modules) Open(device string) (memory device.Memory, why string, done func() error, err error) {
	p, err := m.place(device)
	if err != nil {
		return nil, "", nil, err
	}
	return p.memory, p.why, p.close, nil
}

// imagesVariable names a file of images in the environment.
const imagesVariable = "HECATE_IMAGES"

// Library is the CUDA kernels of a catalog with its images. The file that HECATE_IMAGES names is asked
// before those of the catalog.
func Library(pages *catalog.Catalog) (*cuda.Library, error) {
	l, err := cuda.OpenLibrary(pages.Kernels()...)
	if err != nil {
		return nil, err
	}
	if path := os.Getenv(imagesVariable); path != "" {
		data, err := os.ReadFile(path)
		if err == nil {
			err = use(l, data)
		}
		if err != nil {
			return nil, fmt.Errorf("%s is %q: %w", imagesVariable, path, err)
		}
	}
	for _, data := range pages.Images() {
		if err := use(l, data); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func use(l *cuda.Library, images []byte) error {
	m, err := cuda.ReadImages(images)
	if err == nil {
		l.Use(m)
	}
	return err
}

// A Needs is what a build takes on a device: kernels with the sizes of its model, and bytes of memory.
type Needs struct {
	Kernels []cuda.Variant
	Bytes   int
}

// Needs runs a build's steps, and measures and samples once, without a device and without computing anything.
func (m *Modules) Needs(c *config.Loaded) (Needs, error) {
	r, err := m.read(c)
	if err != nil {
		return Needs{}, err
	}
	return m.needs(c, r)
}

func (m *Modules) needs(c *config.Loaded, r reading) (Needs, error) {
	return m.dry(func(s device.Memory) error {
		b, err := m.builder(c, r, &place{memory: s, arithmetic: s.String(), close: func() error { return nil }}, "")
		if err != nil {
			return err
		}
		return b.dryRun()
	})
}

// dry runs use with the memory of a device that computes nothing, and says what it took.
func (m *Modules) dry(use func(device.Memory) error) (n Needs, err error) {
	l, err := Library(m.Catalog)
	if err != nil {
		return n, err
	}
	s, err := cuda.NewDryRun(l)
	if err != nil {
		return n, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	err = errors.Join(use(s), s.Err())
	return Needs{s.Variants(), s.Bytes()}, err
}

// dryRun makes steps until each level without a gate has been updated, and one more; it measures and samples
// a chunk.
func (b *builder) dryRun() error {
	most := 2
	for _, p := range b.session.Conductor().Pulse().Schedule().Periods {
		most += p
	}
	for range most {
		s, err := b.Step()
		if err != nil {
			return err
		}
		waits := slices.ContainsFunc(s.Levels, func(l Level) bool { return !l.Gated && l.Updates == 0 })
		if !waits && s.Step > 1 {
			break
		}
	}
	mod := b.session.Module()
	part := b.reading.ids[:min(len(b.reading.ids), b.info.Chunk+1)]
	_, err := mod.Score(context.Background(), b.session.Conductor().Pulse().Schedule(), b.reading.last, part, b.info.Chunk)
	if err == nil {
		_, err = b.session.Generate(context.Background(), 0, part[:1], module.Sampling{Settings: b.sample, Limit: 2, Chunk: b.info.Chunk})
	}
	return err
}

// enough is the place if it has what is needed. Else it is the processor for auto, and an error for other
// devices; who, in the message, needs it.
func (p *place) enough(n Needs, who, device string) (*place, error) {
	err := p.check(n, who)
	switch {
	case err == nil:
		return p, nil
	case device == "auto":
		return processor(err.Error()), p.close()
	}
	return p, err
}

// check is an error where a GPU has too little memory free, or where there is neither an image of a kernel nor a
// compiler.
func (p *place) check(n Needs, who string) error {
	free, all, err := p.gpu.Free()
	if err != nil {
		return err
	}
	if int64(n.Bytes) > free {
		return fmt.Errorf("%s needs %s bytes of GPU memory; %s of %s bytes are free on %s", who, progress.Count(n.Bytes), progress.Count(free), progress.Count(all), p.name)
	}
	missing, first := 0, ""
	for _, v := range n.Kernels {
		if from, c := p.library.Chosen(v, p.gpu.Info); from == nil {
			if missing++; missing == 1 {
				first = fmt.Sprintf("%s: %s", v, c.Why)
			}
		}
	}
	if missing == 0 {
		return nil
	}
	if err = cuda.Compiles(p.gpu.Info); err == nil {
		return nil
	}
	return fmt.Errorf("%d of the %s of %s have no image for %s (%s); and %w", missing, progress.Things(len(n.Kernels), "kernel"), who, p.name, first, err)
}
