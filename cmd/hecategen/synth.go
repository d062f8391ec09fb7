package main

import (
	"fmt"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/nl-hecate/hecate/gen/synth"
	"github.com/nl-hecate/hecate/gen/tree"
)

// defaultFront is the front of a formula unless a flag names another.
const defaultFront = "Projected(unit = on)"

func defineSynth(c *command) runFunc {
	var f synth.Formula
	c.flags.StringVar(&f.Over, "over", defaultFront, "`front` that computes keys, values, queries and gates")
	c.flags.StringVar(&f.With, "with", "", "`overrides` such as 'theta := 1'")
	c.flags.StringVar(&f.Name, "name", "", "`name` of the rule; without it, the names of the knobs")
	dir := c.flags.String("o", "", "`folder` to write, which the package owns; without it, the rule's name")
	pkg := c.flags.String("package", "", "`name` of the package; without it, that of the folder")
	open := workspaceFlags(c)
	return func(args []string, out, err io.Writer) (int, error) {
		f.Knobs = args
		if why := oneLine(append(args, f.Over, f.With, f.Name)); why != "" {
			return c.misuse(err, "%s", why), nil
		}
		folder := ""
		if *dir != "" {
			folder = filepath.Base(absolute(*dir))
		}
		if *pkg == "" && *dir != "" {
			*pkg = packageName(folder)
		}
		if *pkg != "" && (!packageWord.MatchString(*pkg) || token.IsKeyword(*pkg)) {
			return c.misuse(err, "%q is no name of a package: use -package", *pkg), nil
		}
		w, e := open(nil)
		if e != nil {
			return exitFailed, e
		}
		y, ds := synth.New(w.conf, f, folder, *pkg)
		if status := report(ds, err); status != exitOK {
			return status, nil
		}
		root := "."
		if *dir != "" {
			root = filepath.Dir(absolute(*dir))
		}
		return exitOK, write(y, root, out)
	}
}

var packageWord = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// packageName is a folder's name as that of a package.
func packageName(folder string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "").Replace(folder))
}

// oneLine refuses what would leave the line of the formula.
func oneLine(args []string) string {
	for _, a := range args {
		if strings.ContainsAny(a, "\n\r`") {
			return fmt.Sprintf("%q is not part of one line", a)
		}
	}
	return ""
}

// write writes a synthesis to disk and prints the verdicts of its proof.
func write(y *synth.Synthesis, root string, out io.Writer) error {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	r, err := y.Write(root)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %s; package %s in %s: %s written, %d removed, %d current\n", y.Name, y.Formula,
		y.Package, filepath.Join(root, y.Folder), plural(len(r.Written), "file"), len(r.Removed), r.Kept)
	if r.Recovery != tree.Idle {
		fmt.Fprintf(out, "an interrupted run was %v first\n", r.Recovery)
	}
	fmt.Fprintln(out, y.Totals())
	return nil
}
