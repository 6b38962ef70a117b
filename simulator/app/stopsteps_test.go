package app

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStepsOfAStopHeedTheirDeadline: no step, and no method that is one, leaves its context alone and waits for as long as it likes.
func TestStepsOfAStopHeedTheirDeadline(t *testing.T) {
	fset, steps, methods := token.NewFileSet(), 0, map[string]bool{}
	var all []*ast.FuncDecl
	for _, root := range []string{"../../scheduler", "../../simulator"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Body != nil {
					all = append(all, f)
				}
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
				step := call.Args[2]
				if limited, ok := step.(*ast.CallExpr); ok { // s.within(share, step)
					step = limited.Args[len(limited.Args)-1]
				}
				switch f := step.(type) {
				case *ast.FuncLit:
					if !uses(f.Type, f.Body) {
						t.Errorf("%s: the step leaves its context alone; within and ends wait with it", fset.Position(call.Pos()))
					}
				case *ast.SelectorExpr:
					methods[f.Sel.Name] = true
				default:
					t.Errorf("%s: the step is neither a function nor a method", fset.Position(call.Pos()))
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	checked := 0
	for _, f := range all {
		params := f.Type.Params.List
		if !methods[f.Name.Name] || len(params) != 1 {
			continue
		}
		if of, ok := params[0].Type.(*ast.SelectorExpr); !ok || of.Sel.Name != "Context" {
			continue
		}
		if checked++; !uses(f.Type, f.Body) {
			t.Errorf("%s: %s may be a step of a stop, and leaves its context alone", fset.Position(f.Pos()), f.Name.Name)
		}
	}
	if steps < 20 || checked < 10 {
		t.Errorf("%d steps were found, and %d methods", steps, checked)
	}
}

// uses reports whether a function uses its only parameter.
func uses(f *ast.FuncType, body *ast.BlockStmt) bool {
	names := f.Params.List[0].Names
	if len(names) == 0 {
		return false
	}
	used := false
	ast.Inspect(body, func(n ast.Node) bool {
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
