package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/nl-hecate/hecate/command/internal/machine"
	"github.com/nl-hecate/hecate/command/internal/progress"
	"github.com/nl-hecate/hecate/command/internal/report"
	"github.com/nl-hecate/hecate/runtime/cuda"
	"github.com/spf13/cobra"
)

// benchCommand is `hecate bench`.
func benchCommand(maker engine.Maker) *cobra.Command {
	var s settings
	var rounds, count int
	var profile bool
	var device string
	c := &cobra.Command{
		Use: "bench [-c run.toml] [flags]", Short: "Measure how fast a model builds, reads and writes on this machine",
		Long: `Measure how fast a model builds, reads and writes on this machine, in the form
that benchstat compares: steps of a build, a stream read chunk by chunk, and a
stream read token by token, as when text is generated. worst-tok/s is the slowest
second. With --device cuda it first measures the peak rates of the GPU: copies within it, and products
of matrices by cuBLAS, if that is installed. Nothing is written.`,
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			if rounds < 1 || count < 1 {
				return misuse{fmt.Errorf("--rounds is %d and --count %d, must be at least 1", rounds, count)}
			}
			conf, err := s.load(maker)
			if err != nil {
				return err
			}
			if err := checkDevice(device); err != nil {
				return err
			}
			conf.Report.Profile = profile
			if c.Flags().Changed("device") {
				conf.Build.Device = device
			}
			m := machine.Look()
			fmt.Fprintf(c.OutOrStdout(), "goos: %s\ngoarch: %s\npkg: github.com/nl-hecate/hecate/command\ncpu: %s\n", m.OS, m.Arch, m.CPU)
			if n, ok := config.GPU(conf.Build.Device); ok && conf.Build.Device != "auto" {
				if err := ceilings(c.OutOrStdout(), n); err != nil {
					return err
				}
			}
			for range count {
				if err := bench(c.Context(), c.OutOrStdout(), maker, conf, rounds); err != nil {
					return err
				}
			}
			return nil
		},
	}
	s.flags(c, maker, "build", "report")
	deviceFlag(c, &device)
	c.Flags().BoolVar(&profile, "profile", false, "also print the time of each unit and operation of a build")
	c.Flags().IntVar(&rounds, "rounds", 50, "`number` of steps, and of chunks to read")
	c.Flags().IntVar(&count, "count", 1, "`number` of repetitions of all measurements")
	return c
}

// ceilings measures the n-th GPU.
func ceilings(w io.Writer, n int) error {
	x, err := cuda.Measure(n)
	if err != nil {
		return err
	}
	products := fmt.Sprintf("%.1f TFLOP/s SGEMM", x.Product/1e12)
	if x.NoProduct != "" {
		products = "SGEMM not measured: " + x.NoProduct
	}
	_, err = fmt.Fprintf(w, "gpu: %s\nGPU peak rates: %.0f GB/s copy, %s\n", x.Device, x.Copy/1e9, products)
	return err
}

// bench measures once.
func bench(ctx context.Context, w io.Writer, maker engine.Maker, conf *config.Loaded, rounds int) (err error) {
	b, err := maker.NewBuilder(conf, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	batch, chunk := conf.Stream.Batch, conf.Stream.Chunk
	if _, err = b.HeldOut(ctx); err != nil { // before the first step, so that it is not measured
		return err
	}
	if err := timed(ctx, w, fmt.Sprintf("Build/%s/lanes=%d/chunk=%d", b.Info().Model, batch, chunk), rounds, batch*chunk, func() error {
		_, err := b.Step()
		return err
	}); err != nil {
		return err
	}
	if rows, updates := b.Profiled(); updates > 0 {
		if _, err := fmt.Fprint(w, report.Profile(rows, updates)); err != nil {
			return err
		}
	}
	return benchReader(ctx, w, maker, conf, rounds, b)
}

// benchReader measures a reader of the builder's checkpoint.
func benchReader(ctx context.Context, w io.Writer, maker engine.Maker, conf *config.Loaded, rounds int, b engine.Builder) (err error) {
	dir, err := os.MkdirTemp("", "hecate-bench-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "bench.safetensors")
	if err := b.Save(path); err != nil {
		return err
	}
	built, err := maker.Tokens(conf)
	if err != nil {
		return err
	}
	chunk := conf.Stream.Chunk
	for _, x := range []struct {
		name  string
		n     int
		times int
	}{{fmt.Sprintf("Read/%s/chunk=%d", b.Info().Model, chunk), chunk, rounds}, {fmt.Sprintf("Token/%s", b.Info().Model), 1, rounds * 8}} {
		r, err := maker.NewReader(path, conf.Stream.Tokenizer, conf.Build.Device)
		if err != nil {
			return err
		}
		at := 0
		err = timed(ctx, w, x.name, x.times, x.n, func() error {
			if at+x.n > len(built) {
				at = 0
			}
			_, _, err := r.Read(ctx, built[at:at+x.n], chunk)
			at += x.n
			return err
		})
		if err := errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	return nil
}

// timed runs f for a warm-up and then n times, and prints a line.
func timed(ctx context.Context, w io.Writer, name string, n, tokens int, f func() error) error {
	const warm = 3
	var meter progress.Meter
	for i := range warm + n {
		if err := ctx.Err(); err != nil {
			return err
		}
		began := time.Now()
		if err := f(); err != nil {
			return err
		}
		if i >= warm {
			meter.Add(tokens, time.Since(began))
		}
	}
	_, err := fmt.Fprintf(w, "Benchmark%s-%d \t%8d\t%12d ns/op\t%12.1f tok/s\t%12.1f worst-tok/s\n",
		name, runtime.GOMAXPROCS(0), n, meter.Time().Nanoseconds()/int64(n), meter.Average(), meter.Worst())
	return err
}
