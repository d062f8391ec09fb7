package cudashim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// driverUnits are the parts of the shim that run blocks, without the program around them.
var driverUnits = []string{"block", "fiber", "memory", "report", "warp"}

// SharedObject compiles C++ text to a shared object, or finds what was compiled before, and
// returns its path. With blocks set it has the part of the shim that runs blocks. The macro
// SHIM is the folder of the shim's headers.
func SharedObject(name, text string, blocks bool) (string, error) {
	w, err := openWorkshop(Plain, []string{"-fPIC", "-O2"})
	if err != nil {
		return "", err
	}
	at := filepath.Join(w.cache, "shared-"+w.hash(name, text, fmt.Sprint(blocks)))
	err = once(at, func() error {
		return replace(at, func(dir string) error {
			if err := os.Mkdir(dir, 0o755); err != nil {
				return err
			}
			var objects []string
			var jobs []func() error
			compile := func(from, to string) {
				objects = append(objects, to)
				jobs = append(jobs, func() error {
					return w.compile(dir, from, to, shimFlags, []string{fmt.Sprintf("-DSHIM=%q", filepath.Join(w.text, "shim"))})
				})
			}
			if err := os.WriteFile(filepath.Join(dir, "text.cpp"), []byte(text), 0o644); err != nil {
				return err
			}
			compile("text.cpp", "text.o")
			for _, u := range driverUnits {
				if blocks {
					compile(filepath.Join(w.text, "shim", u+".cpp"), u+".o")
				}
			}
			if err := together(jobs); err != nil {
				return err
			}
			errs := []error{run(dir, append([]string{"-shared", "-o", name}, append(objects, "-ldl")...))}
			for _, o := range objects {
				errs = append(errs, os.Remove(filepath.Join(dir, o)))
			}
			return errors.Join(errs...)
		})
	})
	if err != nil {
		return "", err
	}
	used(at)
	return filepath.Join(at, name), nil
}
