package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// errNoCC says that there is no C compiler, so that there is nothing to compare
// with.
var errNoCC = errors.New("gcc is not in PATH: the C of bench/c cannot be compiled, so nothing is compared with it")

// A ccObject is a file of bench/c with its own flags. Flags that are not passed
// on at the link stay with the object: -ffast-math there would flush denormal
// numbers in the whole process.
type ccObject struct {
	table, file string // of variants; "" for none
	flags       []string
	single      bool // float32 only, and only on amd64
}

const (
	plainFlags  = "-O2"
	nativeFlags = "-O3 -march=native"
	fastFlags   = nativeFlags + " -ffast-math"
)

var ccObjects = []ccObject{
	{table: "o2", file: "build.c", flags: append(strings.Fields(plainFlags), "-DFOUR_SUMS", spelled(plainFlags))},
	{table: "o3", file: "build.c", flags: append(strings.Fields(nativeFlags), spelled(nativeFlags))},
	{table: "fast", file: "build.c", flags: append(strings.Fields(fastFlags), spelled(fastFlags))},
	{table: "wide", file: "wide.c", flags: []string{"-O3", "-march=native", "-mavx512f"}, single: true},
	{table: "narrow", file: "narrow.c", flags: []string{"-O3", "-mavx2", "-mfma"}, single: true},
	{file: "serve.c", flags: []string{"-O2"}},
	{file: "work.c", flags: []string{"-O2"}},
	{file: "product.c", flags: []string{"-O2"}},
	{file: "peak.c", flags: []string{"-O2"}},
	{file: "blas.c", flags: []string{"-O2"}},
	{file: "pair.c", flags: []string{"-O2"}},
	{file: "chunk.c", flags: strings.Fields(fastFlags)},
	{file: "chunks.c", flags: []string{"-O2"}},
	{file: "rules.c", flags: []string{"-O2"}},
	{file: "matrices.c", flags: strings.Fields(fastFlags)},
	{file: "layers.c", flags: strings.Fields(fastFlags)},
	{file: "slots.c", flags: strings.Fields(fastFlags)},
	{file: "omega.c", flags: strings.Fields(fastFlags)},
}

// spelled puts the flags into the names of the variants.
func spelled(flags string) string { return fmt.Sprintf("-DFLAGS=%q", flags) }

// buildCC compiles bench/c under the project's root into dir and returns the
// program. double makes its numbers float64.
func buildCC(root, dir string, double bool) (string, error) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		return "", errNoCC
	}
	var objects []ccObject
	var tables strings.Builder
	for _, o := range ccObjects {
		if o.single && (double || runtime.GOARCH != "amd64") {
			continue
		}
		if o.table != "" {
			fmt.Fprintf(&tables, "X(%s) ", o.table)
		}
		objects = append(objects, o)
	}
	command := func(args ...string) error {
		if text, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("compile bench/c: gcc %s: %w\n%s", strings.Join(args, " "), err, text)
		}
		return nil
	}
	link := []string{"-o", filepath.Join(dir, "serve")}
	fails := make([]error, len(objects))
	var wait sync.WaitGroup
	for i, o := range objects {
		out := filepath.Join(dir, o.table+strings.TrimSuffix(o.file, ".c")+".o")
		args := append([]string{"-DBUILDS=" + tables.String(), "-c", "-o", out}, o.flags...)
		if o.table != "" {
			args = append(args, "-DTABLE="+o.table)
		}
		if double {
			args = append(args, "-DREAL=double")
		}
		link = append(link, out)
		wait.Go(func() { fails[i] = command(append(args, filepath.Join(root, "bench", "c", o.file))...) })
	}
	wait.Wait()
	if err := errors.Join(fails...); err != nil {
		return "", err
	}
	if err := command(append(link, "-ldl", "-lpthread", "-lm")...); err != nil {
		return "", err
	}
	return link[1], nil
}
