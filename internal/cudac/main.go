// Cudac compiles every CUDA kernel that hecategen printed for the devices that we ship
// for, and keeps the table of what the kernels need.
//
//	cudac [-n] [-all] [-sample N] [-once] [-j N] [-table FILE] [-out DIR] [KERNELS]
//
// Each .cu file below KERNELS (out/cuda/kernels, where `hecategen cuda` writes) is compiled by NVRTC to PTX for
// compute_80 and to machine code for sm_80, sm_86, sm_89 and sm_90, twice, in
// two processes; both must give the same bytes. A kernel that spills registers
// fails. Registers, stack and static shared memory of every kernel go into
// FILE (cuda/resources.json); with -n the table is compared and nothing is
// written there. The binaries stay in DIR (out/cuda/bin), which git ignores.
//
// What a file needs follows from its text, the headers, the targets and the compiler. The
// table holds a hash of each text and its numbers; where it fits, the file is not compiled again, except
// for a sample of N files that is drawn again in each run; -all compiles every file.
// A sample of N files whose kernels have operands is compiled with these in bfloat16, too.
//
// NVRTC is the library that $HECATE_NVRTC names, or the one that .ci/nvrtc
// fetched into out/nvrtc, or the system's. Registers differ from version to
// version: the table holds those of NVRTC 11.8, and any other version compiles
// and reports spills only.
//
// The library is called by a C program of 140 lines (driver), which cudac
// builds with cc: no module has to be added for it, two compilations run side
// by side, and one that crashes is an error like another.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func main() {
	var c config
	flag.BoolVar(&c.compare, "n", false, "compare the table with the one that is there, and write nothing")
	flag.BoolVar(&c.all, "all", false, "compile every file, whatever the table knows")
	flag.IntVar(&c.sample, "sample", 12, "how many files to compile although the table knows them")
	flag.BoolVar(&c.once, "once", false, "compile once: no check that the bytes are the same again")
	flag.IntVar(&c.jobs, "j", 2, "compilations at a time")
	flag.StringVar(&c.out, "out", filepath.Join("out", "cuda", "bin"), "folder for binaries")
	flag.StringVar(&c.resources, "table", filepath.Join("cuda", "resources.json"), "`file` of the table of what the kernels need")
	flag.StringVar(&c.include, "include", filepath.Join("cuda", "include"), "folder of hecate.cuh")
	flag.Parse()
	c.kernels = filepath.Join("out", "cuda", "kernels")
	if flag.NArg() > 0 {
		c.kernels = flag.Arg(0)
	}
	if err := c.run(); err != nil {
		fmt.Fprintln(os.Stderr, "cudac:", err)
		os.Exit(1)
	}
}

// A config is one run of the command.
type config struct {
	kernels, include, out, resources string
	compare, once, all               bool
	jobs, sample                     int
}

func (c config) run() error {
	start := time.Now()
	files, err := kernelFiles(c.kernels)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("there are no .cu files under %s: run hecategen cuda", c.kernels)
	}
	lib, err := openLibrary(c.out)
	if err != nil {
		return err
	}
	rows, texts, compiled, err := c.compile(lib, files)
	if err != nil {
		return err
	}
	narrow, n, err := c.narrow(lib, files)
	if err := errors.Join(err, spills(rows), spills(narrow)); err != nil {
		return err
	}
	fmt.Printf("cudac: %d files, %d kernels, %d targets: no spills; %d files compiled, %s, and %d with operands in bfloat16 (NVRTC %s, %.0f s)\n",
		len(files), len(rows)/machines, len(targets), compiled, c.bytes(), n, lib.version, time.Since(start).Seconds())
	return c.table(lib, rows, texts)
}

func (c config) bytes() string {
	if c.once {
		return "each once"
	}
	return "the same bytes twice"
}
