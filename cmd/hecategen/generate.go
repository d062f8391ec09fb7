package main

import (
	"fmt"
	"io"
)

func generateCommand() *command {
	c := newCommand("generate", "[-n] [PATH…]", "prove the pages and write what they become", `
Compile all pages under the given folders (specs when none is given): parse,
type, differentiate, prove, lower, and write the generated packages. Nothing is
written unless every page is clean, and no file is ever torn: an interrupted run
is finished or undone by the next one.`, 0, -1)
	dry := c.flags.Bool("n", false, "write nothing; exit 1 when files would change")
	root := rootFlag(c)
	c.run = func(args []string, out, err io.Writer) int {
		status, e := generate(orSpecs(args), *root, *dry, out, err)
		return finish("generate", status, e, err)
	}
	return c
}

func proveCommand() *command {
	c := newCommand("prove", "[-deep] [PATH…]", "prove what the pages claim; write nothing", `
Prove or refuse every block of the pages under the given folders: shapes, inner
gradients, adjoints, claims, kinks, invariants, costs, markers, special cases.
Each verdict is printed: proved, tested, declared, prose only.`, 0, -1)
	deep := c.flags.Bool("deep", false, "more sizes, and trajectories of 10,000 steps")
	c.run = func(args []string, out, err io.Writer) int {
		status, e := prove(orSpecs(args), *deep, out, err)
		return finish("prove", status, e, err)
	}
	return c
}

func auditCommand() *command {
	c := newCommand("audit", "[-json] [PATH…]", "list equation, symbol and test, both ways", `
List for every equation of the pages the generated symbol that computes it and
the test that holds it, and for every generated symbol its equation; then the
coverage and the gaps by name.`, 0, -1)
	asJSON := c.flags.Bool("json", false, "print JSON")
	root := rootFlag(c)
	c.run = func(args []string, out, err io.Writer) int {
		status, e := audit(orSpecs(args), *root, *asJSON, out, err)
		return finish("audit", status, e, err)
	}
	return c
}

func rootFlag(c *command) *string {
	return c.flags.String("root", ".", "root `folder` of the module that the files belong to")
}

func orSpecs(args []string) []string {
	if len(args) == 0 {
		return []string{specsDir}
	}
	return args
}

// finish reports an error of the world.
func finish(name string, status int, e error, err io.Writer) int {
	if e != nil {
		fmt.Fprintf(err, "hecategen: %s: %v\n", name, e)
		return bad
	}
	return status
}
