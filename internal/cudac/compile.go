package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// targets are what every file is compiled for: PTX that a later device
// translates itself, and the machines that we ship code for.
var targets = []string{"compute_80", "sm_80", "sm_86", "sm_89", "sm_90"}

// machines is how many of the targets are machines, which are last: those that
// the table knows.
const machines = 4

// kernelFiles returns the .cu files of a folder by their paths below it,
// sorted; none if there is no folder.
func kernelFiles(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".cu" {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		files = append(files, filepath.ToSlash(rel))
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	slices.Sort(files)
	return files, err
}

// compile returns what the kernels of all files need, and how many files it compiled for
// that: what the table knows of a text is not found again, except for the sample. All
// that is wrong is reported, not only the first.
func (c config) compile(lib *library, files []string) (all []row, texts map[string]string, compiled int, err error) {
	rows, errs := make([][]row, len(files)), make([]error, len(files))
	texts = map[string]string{}
	for _, file := range files {
		if texts[file], err = c.text(file); err != nil {
			return nil, nil, 0, err
		}
	}
	old := c.known(lib)
	sample := map[string]bool{}
	for _, i := range rand.Perm(len(files))[:min(c.sample, len(files))] {
		sample[files[i]] = true
	}
	turns := make(chan struct{}, max(c.jobs, 1))
	var wg sync.WaitGroup
	for i, file := range files {
		if known := old.rows(file); !sample[file] && old.Texts[file] == seal(texts[file], known) {
			rows[i] = known
			continue
		}
		compiled++
		wg.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			rows[i], errs[i] = c.file(lib, file)
		})
	}
	wg.Wait()
	for i, file := range files {
		texts[file] = seal(texts[file], rows[i])
	}
	all = slices.Concat(rows...)
	slices.SortFunc(all, compareRows)
	return all, texts, compiled, errors.Join(errs...)
}

// file compiles one file, if what is in the folder of binaries was not made
// from the same text.
func (c config) file(lib *library, file string) ([]row, error) {
	stem := strings.TrimSuffix(filepath.FromSlash(file), ".cu")
	first, again := filepath.Join(c.out, stem), filepath.Join(c.out, "again", stem)
	key, err := c.key(lib, file)
	if err != nil {
		return nil, err
	}
	if old, err := os.ReadFile(first + ".key"); err != nil || string(old) != key {
		if err := c.pass(lib, file, first); err != nil {
			return nil, err
		}
		if !c.once {
			if err := c.pass(lib, file, again); err != nil {
				return nil, err
			}
			if err := sameBytes(file, first, again); err != nil {
				return nil, err
			}
		}
		if err := os.WriteFile(first+".key", []byte(key), 0o644); err != nil {
			return nil, err
		}
	}
	return readLogs(file, first)
}

// key is the hash of all that the binaries of a file depend on.
func (c config) key(lib *library, file string) (string, error) {
	text, err := c.text(file)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, lib.version, c.once, text)
	h.Write(driverText)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// seal is the hash of a text and of what its kernels need: a row of the table that was
// edited counts as little as one of another text.
func seal(text string, rows []row) string {
	rows = slices.SortedFunc(slices.Values(rows), compareRows)
	h := sha256.New()
	fmt.Fprintln(h, text)
	for _, e := range entries(rows) {
		fmt.Fprintln(h, e)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// text is the hash of a file, of the headers that it can include and of what it is
// compiled for.
func (c config) text(file string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, targets)
	headers, err := filepath.Glob(filepath.Join(c.include, "*.cuh"))
	if err != nil {
		return "", err
	}
	for _, path := range append(headers, filepath.Join(c.kernels, filepath.FromSlash(file))) {
		data, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, len(data))
		h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// readLogs reads what the compiler said of a file for every machine.
func readLogs(file, out string) ([]row, error) {
	var rows []row
	for _, target := range targets {
		if !strings.HasPrefix(target, "sm_") {
			continue
		}
		log, err := os.ReadFile(out + "." + target + ".log")
		if err != nil {
			return nil, err
		}
		found, err := parseLog(file, target, string(log))
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
	}
	return rows, nil
}

// pass compiles a file for all targets in one process.
func (c config) pass(lib *library, file, out string) error {
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	if err := os.Remove(out + ".key"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	args := append([]string{c.include, filepath.Join(c.kernels, filepath.FromSlash(file)), file, out}, targets...)
	if text, err := lib.command(args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s does not compile: %w\n%s", file, err, text)
	}
	return nil
}

// sameBytes compares what two processes made.
func sameBytes(file, first, again string) error {
	for _, target := range targets {
		a, err := os.ReadFile(first + "." + target + ".bin")
		if err != nil {
			return err
		}
		b, err := os.ReadFile(again + "." + target + ".bin")
		if err != nil {
			return err
		}
		if !bytes.Equal(a, b) {
			return fmt.Errorf("%s: two compilations for %s give other bytes", file, target)
		}
	}
	return nil
}

// narrow compiles a sample of the files whose kernels have operands, or all, with these in bfloat16, and returns
// what they need, and how many files there were.
func (c config) narrow(lib *library, files []string) (rows []row, n int, err error) {
	x := c
	x.kernels, x.out = filepath.Join(c.out, "bfloat16", "text"), filepath.Join(c.out, "bfloat16")
	for _, i := range rand.Perm(len(files)) {
		if n == c.sample && !c.all {
			break
		}
		text, err := os.ReadFile(filepath.Join(c.kernels, filepath.FromSlash(files[i])))
		if err != nil {
			return nil, 0, err
		}
		changed := strings.Replace(string(text), "bf16 = 0\n", "bf16 = 1\n", 1) // the last of the sizes
		if changed == string(text) {
			continue
		}
		path := filepath.Join(x.kernels, filepath.FromSlash(files[i]))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(changed), 0o644)); err != nil {
			return nil, 0, err
		}
		found, err := x.file(lib, files[i])
		if err != nil {
			return nil, 0, fmt.Errorf("with operands in bfloat16: %w", err)
		}
		rows, n = append(rows, found...), n+1
	}
	return rows, n, nil
}
