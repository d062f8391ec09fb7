package notation

import (
	"fmt"
	"iter"
	"reflect"
)

// Inspect calls visit for n and, while visit returns true, for every node
// below it, in the order of the fields. Nodes are *File, *Unit, statements,
// expressions and the parts of these (*Binder, *Type, *Param, *Arm …), but not
// words and texts. Clauses that several names of a declaration share are
// visited with each name.
func Inspect(n any, visit func(any) bool) {
	if isNil(n) || !visit(n) {
		return
	}
	for _, c := range children(n) {
		Inspect(c, visit)
	}
}

// Idents iterates over the names in n, in the order of Inspect.
func Idents(n any) iter.Seq[*Ident] {
	return func(yield func(*Ident) bool) {
		more := true
		Inspect(n, func(n any) bool {
			if id, ok := n.(*Ident); ok && more {
				more = yield(id)
			}
			return more
		})
	}
}

// Mentions reports whether a name that f accepts is in n.
func Mentions(n any, f func(*Ident) bool) bool {
	for id := range Idents(n) {
		if f(id) {
			return true
		}
	}
	return false
}

// Declared iterates over the names that some lines declare with a keyword.
func Declared(body []Stmt, keyword string) iter.Seq[*DeclName] {
	return func(yield func(*DeclName) bool) {
		for _, st := range body {
			d, ok := st.(*Declare)
			if !ok || d.Keyword.Text != keyword {
				continue
			}
			for _, n := range d.Names {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// isNil reports whether n is nil, or an interface with a nil pointer.
func isNil(n any) bool {
	v := reflect.ValueOf(n)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// list turns nodes of one type into nodes.
func list[T any](ns []T, more ...any) []any {
	out := make([]any, 0, len(ns)+len(more))
	for _, n := range ns {
		out = append(out, n)
	}
	return append(out, more...)
}

func children(n any) []any {
	switch n := n.(type) {
	case *File:
		return list(n.Units)
	case *Unit:
		all := append(list(n.Params), n.Result, n.Formula, n.For, n.Else)
		return append(append(append(all, list(n.With)...), n.Cite), list(n.Body)...)
	case *Param:
		return []any{n.Type}
	case *Formula:
		return list(n.Parts, n.Over)
	case *Apply:
		return list(n.Args)
	case *Override:
		return append([]any{n.Value, n.Apply}, list(n.List)...)
	case *Cite:
		return nil
	case *Type:
		return append(append(list(n.Shape), n.Lo, n.Hi), list(n.Members)...)
	case *Target:
		return append(append([]any{n.Name}, list(n.Params)...), list(n.Index)...)
	case *DimsItem:
		return []any{n.Size}
	case *DeclName:
		all := []any{n.Type, n.Init, n.Within, n.Dist}
		return append(append(all, list(n.ByLevel)...), n.Seed)
	case *Mark, *Family:
		return nil
	case *Binder:
		all := []any{n.Range}
		return append(append(all, list(n.Tuple)...), n.Cond)
	case *Arm:
		return []any{n.Cond, n.Value}
	case Stmt:
		return stmtChildren(n)
	case Expr:
		return exprChildren(n)
	}
	panic(fmt.Sprintf("notation: BUG: no node %T", n))
}

func stmtChildren(s Stmt) []any {
	switch s := s.(type) {
	case *Dims:
		return append([]any{s.When}, list(s.Items)...)
	case *Declare:
		return append([]any{s.Family, s.When}, list(s.Names)...)
	case *Define:
		return append(append([]any{s.Family, s.Target, s.Value}, list(s.With)...), s.Cite)
	case *Claim:
		return append(append([]any{s.Family, s.When, s.Left, s.Right}, list(s.With)...), s.Cite)
	case *Kink:
		return []any{s.When, s.Left, s.Right}
	case *Invariant:
		return append([]any{s.When}, list(s.Binders, s.Cond)...)
	case *Provides:
		return append([]any{s.When}, list(s.Marks)...)
	case *Special:
		all := append([]any{s.Left}, list(s.LWith)...)
		return append(append(all, s.Right), list(s.With)...)
	case *Trial:
		return []any{s.Formula}
	case *Erratum:
		return []any{s.Cite}
	case *Cost:
		return []any{s.When, s.Value, s.Big}
	case *Iterate:
		return append([]any{s.From, s.Count, s.Step}, list(s.With)...)
	case *NoGrad:
		return nil
	case *Fit:
		return append([]any{s.Predict, s.Target}, list(s.With)...)
	case *Each:
		return append([]any{s.Predict, s.Target, s.Of}, list(s.Body)...)
	case *Level:
		return []any{s.Binder, s.Rule, s.Period, s.When}
	case *Guard:
		return []any{s.Cond}
	}
	panic(fmt.Sprintf("notation: BUG: no statement %T", s))
}

func exprChildren(e Expr) []any {
	switch e := e.(type) {
	case *Number:
		return nil
	case *Ident:
		return []any{e.Time}
	case *Field:
		return []any{e.X}
	case *Index:
		return append([]any{e.X}, list(e.At)...)
	case *Tuple:
		return list(e.Items)
	case *Call:
		return append(list(e.At), list(e.Args)...)
	case *Frozen:
		return []any{e.X}
	case *Grad:
		return []any{e.Call}
	case *Unary:
		return []any{e.X}
	case *Binary:
		return []any{e.X, e.Y}
	case *Juxt:
		return list(e.Items)
	case *Power:
		return []any{e.X, e.Exp}
	case *Transpose:
		return []any{e.X}
	case *Norm:
		return []any{e.X}
	case *Abs:
		return []any{e.X}
	case *Inner:
		return []any{e.X, e.Y}
	case *Reduce:
		return list(e.Binders, e.Body, e.Empty)
	case *Stack:
		return list(e.Items)
	case *List:
		return list(e.Items)
	case *Piecewise:
		return list(e.Arms)
	case *Case:
		return append([]any{e.On}, list(e.Arms)...)
	case *Relation:
		return []any{e.X, e.Y}
	case *And:
		return []any{e.X, e.Y}
	case *Set:
		return list(e.Items, e.Lo, e.Hi)
	case *Solve:
		return []any{e.Domain, e.Left, e.Right, e.Tol}
	}
	panic(fmt.Sprintf("notation: BUG: no expression %T", e))
}
