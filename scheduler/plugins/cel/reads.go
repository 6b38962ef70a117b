package cel

import (
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// reads lists the inputs that an expression reads.
type reads struct {
	// pod holds paths such as metadata.labels; "" is the whole pod.
	pod       []string
	variables map[string]bool
}

// readsOf finds every variable in an expression. A loop variable with one of our names counts as
// ours: that may report too many reads, but never too few.
func readsOf(compiled *cel.Ast) reads {
	out := reads{variables: map[string]bool{}}
	out.visit(ast.NavigateAST(compiled.NativeRep()))
	return out
}

func (r *reads) visit(e ast.NavigableExpr) {
	if name, path, ok := variablePath(e); ok {
		if name == varPod {
			r.pod = append(r.pod, strings.Join(path, "."))
		} else {
			r.variables[name] = true
		}
		return
	}
	for _, child := range e.Children() {
		r.visit(child)
	}
}

// variablePath splits pod.metadata.labels, or pod.metadata.?labels, into its parts.
func variablePath(e ast.Expr) (name string, path []string, ok bool) {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent(), nil, true
	case ast.SelectKind:
		name, path, ok = variablePath(e.AsSelect().Operand())
		return name, append(path, e.AsSelect().FieldName()), ok
	case ast.CallKind:
		call := e.AsCall()
		if call.FunctionName() != operators.OptSelect || len(call.Args()) != 2 || call.Args()[1].Kind() != ast.LiteralKind {
			return "", nil, false
		}
		field, isString := call.Args()[1].AsLiteral().(types.String)
		name, path, ok = variablePath(call.Args()[0])
		return name, append(path, string(field)), ok && isString
	}
	return "", nil, false
}

func (r reads) runningPods() bool { return r.variables[varNodeRequested] || r.variables[varPodsOnNode] }
