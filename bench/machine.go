package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// machine describes where a run took place, in words.
func machine() string {
	words := []string{fmt.Sprintf("%d CPUs", runtime.NumCPU())}
	if runtime.NumCPU() == 1 {
		words[0] = "1 CPU"
	}
	if name := cpuName(); name != "" {
		words[0] += ", " + name
	}
	words = append(words, runtime.GOOS+" "+runtime.GOARCH, strings.Replace(runtime.Version(), "go", "Go ", 1))
	if out, err := exec.Command("gcc", "-dumpfullversion").Output(); err == nil {
		words = append(words, "gcc "+strings.TrimSpace(string(out)))
	}
	if load := load(); load != "" {
		words = append(words, "load "+load+" at the start")
	}
	return strings.Join(words, "; ")
}

// cpuName is the processor's name and its widest vectors, where Linux tells.
func cpuName() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	field := func(key string) string {
		for line := range strings.Lines(string(text)) {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == key {
				return strings.TrimSpace(v)
			}
		}
		return ""
	}
	name := field("model name")
	flags := " " + field("flags") + " "
	for _, f := range []struct{ flag, name string }{{" avx512f ", "AVX-512"}, {" avx2 ", "AVX2"}} {
		if strings.Contains(flags, f.flag) {
			return name + " with " + f.name
		}
	}
	return name
}

// load is the number of processes that wanted to run during the last minute.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
