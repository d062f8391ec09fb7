// Command make puts a CUDA driver and a compiler of kernels that need no GPU into
// out/fakecuda, and prints the two variables with which a program uses them.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/nl-hecate/hecate/internal/fakecuda"
)

func main() {
	if err := run(filepath.Join("out", "fakecuda")); err != nil {
		fmt.Fprintln(os.Stderr, "fakecuda:", err)
		os.Exit(1)
	}
}

func run(to string) error {
	driver, compiler, err := fakecuda.Build()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for name, path := range map[string]string{"libcuda.so": driver, "libnvrtc.so": compiler} {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, name), data, 0o755); err != nil {
			return err
		}
	}
	fmt.Printf("LIBCUDA_PATH=%s HECATE_NVRTC=%s\n", filepath.Join(to, "libcuda.so"), filepath.Join(to, "libnvrtc.so"))
	return nil
}
