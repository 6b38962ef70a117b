package cel

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/cel/environment"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/celcost"
	"kube-scheduler-simulator/scheduler/plugins/argument"
)

// The limits of an expression.
const (
	// maxCost bounds one evaluation, in CEL's own units: about one per step, and
	// more for a step that reads long strings or lists. It amounts to a few
	// milliseconds.
	maxCost       = 50_000
	maxExpression = 16 << 10
	// interruptEvery is the number of loop iterations between two checks of the
	// context.
	interruptEvery = 64
)

type language struct {
	env    *cel.Env
	schema *schema
}

func newLanguage() (*language, error) {
	base := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).NewExpressionsEnv()
	s := newSchema(base.CELTypeProvider(), base.CELTypeAdapter(),
		reflect.TypeFor[v1.Pod](), reflect.TypeFor[v1.Node](), reflect.TypeFor[Resources]())
	pod, node, resources := s.byType[reflect.TypeFor[v1.Pod]()].celType, s.byType[reflect.TypeFor[v1.Node]()].celType, s.byType[reflect.TypeFor[Resources]()].celType
	env, err := base.Extend(
		cel.CustomTypeProvider(s), cel.CustomTypeAdapter(s),
		ext.Math(ext.MathVersion(2)), ext.Bindings(ext.BindingsVersion(0)),
		cel.Variable(varPod, pod), cel.Variable(varNode, node), cel.Variable(varPodsOnNode, types.NewListType(pod)),
		cel.Variable(varPodRequest, resources), cel.Variable(varNodeRequested, resources), cel.Variable(varNodeAllocatable, resources),
	)
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	return &language{env: env, schema: s}, nil
}

// expression is a compiled expression. It is safe for concurrent use.
type expression struct {
	text    string
	schema  *schema
	program cel.Program
	ast     *cel.Ast
	reads   reads
}

// compile checks text, the argument named field. Its result must be of one of the types want, which
// kind describes. Errors are argument.Errors.
func (l *language) compile(field, text, kind string, want ...*types.Type) (*expression, error) {
	if len(text) > maxExpression {
		return nil, &argument.Error{Field: field, Message: fmt.Sprintf("is longer than %d bytes", maxExpression)}
	}
	ast, issues := celcost.Compile(l.env, text)
	if issues.Err() != nil {
		var errs []error
		for _, e := range issues.Errors() {
			errs = append(errs, &argument.Error{
				Field: field, Line: e.Location.Line(), Column: e.Location.Column() + 1, // CEL counts them from 0
				Message: celcost.Explain(e, varPod, varNode, varPodRequest, varNodeRequested, varNodeAllocatable, varPodsOnNode),
			})
		}
		return nil, errors.Join(errs...)
	}
	if !slices.ContainsFunc(want, ast.OutputType().IsExactType) {
		return nil, &argument.Error{Field: field, Line: 1, Column: 1, Message: fmt.Sprintf("the result must be %s, not %s", kind, ast.OutputType())}
	}
	program, err := celcost.Program(l.env, ast, cel.CostLimit(maxCost), cel.InterruptCheckFrequency(interruptEvery))
	if err != nil {
		return nil, &argument.Error{Field: field, Message: err.Error()}
	}
	return &expression{text: text, schema: l.schema, program: program, ast: ast, reads: readsOf(ast)}, nil
}

// evaluate returns the value of the expression for pod on node. An error says where it occurred and
// how to fix it.
func (e *expression) evaluate(ctx context.Context, pod *v1.Pod, node fwk.NodeInfo) (ref.Val, error) {
	value, err := celcost.Eval(ctx, e.program, &activation{schema: e.schema, pod: pod, node: node})
	if err == nil {
		return value, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, fmt.Errorf("evaluating the expression for node %q%s: %w%s", node.Node().Name, e.place(err), err, advice(err))
}

func (e *expression) place(err error) string {
	var at *types.Err
	if !errors.As(err, &at) || at.NodeID() == 0 {
		return ""
	}
	where := e.ast.NativeRep().SourceInfo().GetStartLocation(at.NodeID())
	if where.Line() < 1 {
		return ""
	}
	return fmt.Sprintf(" (line %d, column %d)", where.Line(), where.Column()+1)
}

func advice(err error) string {
	switch text := err.Error(); {
	case strings.Contains(text, "cost limit exceeded"):
		return fmt.Sprintf(": it may take %d steps for a node", maxCost)
	case strings.Contains(text, "no such key"):
		_, key, _ := strings.Cut(text, "no such key: ")
		return fmt.Sprintf("; for a key that not every map has, write [?'%s'].orValue(...), or check '%s' in the map first", key, key)
	}
	return ""
}
