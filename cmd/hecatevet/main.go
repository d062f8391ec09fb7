// Command hecatevet is a vet tool that holds programs to the lifetimes of a model's
// numbers: outer parameters, inner state, moved context and the clock.
//
//	go install github.com/nl-hecate/hecate/cmd/hecatevet@latest
//	go vet -vettool=$(which hecatevet) ./...
//	hecatevet help            lists the analyzers
//	hecatevet help NAME       says what one reports, and why
//
// The analyzers know no type by name. They read directives in the docs of types and
// functions, which packages hand on as facts, so any module can mark types of its own
// and is held to the marks of the libraries that it uses. What a program must do
// against the rule has its reason in the code:
//
//	//hecate:allow ANALYZER reason
//
// and go vet -vettool=… -allow.list ./... lists all of it.
package main

import (
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/allow"
	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/consumeonce"
	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/noescape"
	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/nozero"
	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/outerwrite"
	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/pulsereadonly"
)

// rules are the analyzers that hold a program to its marks.
var rules = []*analysis.Analyzer{
	consumeonce.Analyzer, noescape.Analyzer, nozero.Analyzer, outerwrite.Analyzer, pulsereadonly.Analyzer,
}

// directives is the analyzer of the directives.
var directives = allow.New(rules...)

func main() { unitchecker.Main(append(rules, directives)...) }
