package app

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStepsOfAStopHeedTheirDeadline: no step is a function that leaves its context alone, and waits for as long as it likes.
func TestStepsOfAStopHeedTheirDeadline(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset, steps := token.NewFileSet(), 0
	for _, name := range files {
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 3 {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "onStopOf" {
				return true
			}
			steps++
			literal, ok := call.Args[2].(*ast.FuncLit)
			if ok && !uses(literal) {
				t.Errorf("%s: the step leaves its context alone; within and ends wait with it", fset.Position(call.Pos()))
			}
			return true
		})
	}
	if steps < 20 {
		t.Errorf("%d steps were found", steps)
	}
}

// uses reports whether a function uses its only parameter.
func uses(f *ast.FuncLit) bool {
	names := f.Type.Params.List[0].Names
	if len(names) == 0 {
		return false
	}
	used := false
	ast.Inspect(f.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		used = used || ok && id.Name == names[0].Name
		return !used
	})
	return used
}

// TestAStepThatHangsLeavesTimeToOthers: it is named in the error, and steps for which time is kept have it.
func TestAStepThatHangsLeavesTimeToOthers(t *testing.T) {
	s := &simulator{}
	var left time.Duration
	deadline := time.Now().Add(time.Second)
	s.onStopOf("the results", 200*time.Millisecond, func(ctx context.Context) error {
		by, _ := ctx.Deadline()
		left = time.Until(by)
		return nil
	})
	for _, what := range []string{"a plugin", "a run"} {
		s.onStopOf(what, 0, func(ctx context.Context) error { return within(ctx, func() { select {} }) })
	}
	err := s.stop(deadline)
	if late, ok := errors.AsType[*NotOrderlyError](err); !ok || len(late.Parts) != 2 || strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is %v", err)
	}
	if !strings.Contains(err.Error(), "a run did not stop in time") || !strings.Contains(err.Error(), "a plugin did not stop in time") {
		t.Errorf("the error is %v", err)
	}
	if left < 190*time.Millisecond || time.Now().After(deadline) {
		t.Errorf("the last step has %s", left)
	}
}
