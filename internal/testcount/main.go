// Command testcount reads what `go test -json` prints, with other lines in
// between, shows what failed and what skipped, and ends with one line that
// counts the tests.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// An event is a line of `go test -json`.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<26)
	var passed, failed, skipped int
	output := map[string][]string{}
	for in.Scan() {
		var e event
		if err := json.Unmarshal(in.Bytes(), &e); err != nil || e.Action == "" {
			fmt.Println(in.Text())
			continue
		}
		key := e.Package + " " + e.Test
		switch e.Action {
		case "output", "build-output":
			output[key] = append(output[key], e.Output)
		case "pass":
			if e.Test != "" {
				passed++
			}
			delete(output, key)
		case "skip":
			if e.Test != "" {
				skipped++
				fmt.Printf("skipped: %s: %s\n", key, strings.TrimSpace(strings.Join(output[key], " ")))
			}
			delete(output, key)
		case "fail", "build-fail":
			if e.Test != "" {
				failed++
			}
			fmt.Printf("failed: %s\n%s", key, strings.Join(output[key], ""))
		}
	}
	if err := in.Err(); err != nil {
		fmt.Println("testcount:", err)
		os.Exit(1)
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 || passed == 0 {
		os.Exit(1)
	}
}
