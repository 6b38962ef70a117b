package cel

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/cel/environment"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/plugins/argument"
)

// What an expression may take.
const (
	// maxCost bounds one evaluation, in CEL's own units: about a step each, and
	// more where a step looks at long strings or lists. It is a few
	// milliseconds.
	maxCost = 50_000
	// maxExpression bounds the text.
	maxExpression = 16 << 10
	// interruptEvery is how many rounds a loop makes between two looks at the
	// context.
	interruptEvery = 64
)

// language is what expressions are written in: CEL, the libraries that
// Kubernetes adds to it, math and cel.bind, and the variables.
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

// expression is compiled, and safe for concurrent use.
type expression struct {
	text    string
	schema  *schema
	program cel.Program
	ast     *cel.Ast
	reads   reads
}

// compile checks text, which is the argument named field. Its result must be of
// one of the types, which are described by kind. Errors are argument.Errors.
func (l *language) compile(field, text, kind string, want ...*types.Type) (*expression, error) {
	if len(text) > maxExpression {
		return nil, &argument.Error{Field: field, Message: fmt.Sprintf("is longer than %d bytes", maxExpression)}
	}
	ast, issues := l.env.Compile(text)
	if issues.Err() != nil {
		var errs []error
		for _, e := range issues.Errors() {
			errs = append(errs, compileError(field, e))
		}
		return nil, errors.Join(errs...)
	}
	if !slices.ContainsFunc(want, ast.OutputType().IsExactType) {
		return nil, &argument.Error{Field: field, Line: 1, Column: 1, Message: fmt.Sprintf("the result must be %s, not %s", kind, ast.OutputType())}
	}
	program, err := l.env.Program(ast, cel.CostLimit(maxCost), cel.InterruptCheckFrequency(interruptEvery))
	if err != nil {
		return nil, &argument.Error{Field: field, Message: err.Error()}
	}
	return &expression{text: text, schema: l.schema, program: program, ast: ast, reads: readsOf(ast)}, nil
}

// compileError puts CEL's complaint, which counts columns from 0, in our form.
func compileError(field string, e *common.Error) *argument.Error {
	message := strings.TrimSuffix(strings.TrimPrefix(e.Message, "Syntax error: "), " (in container '')")
	if message != e.Message && strings.HasPrefix(message, "undeclared reference") {
		message += "; the variables are " + strings.Join([]string{varPod, varNode, varPodRequest, varNodeRequested, varNodeAllocatable, varPodsOnNode}, ", ")
	}
	return &argument.Error{Field: field, Line: e.Location.Line(), Column: e.Location.Column() + 1, Message: message}
}

// evaluate returns what the expression gives for pod on node. An error says
// where in the expression, and what can be done about it.
func (e *expression) evaluate(ctx context.Context, pod *v1.Pod, node fwk.NodeInfo) (ref.Val, error) {
	value, _, err := e.program.ContextEval(ctx, &activation{schema: e.schema, pod: pod, node: node})
	if err == nil {
		return value, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, fmt.Errorf("evaluating the expression for node %q%s: %w%s", node.Node().Name, e.place(err), err, advice(err))
}

// place says where an error came up, if that is known.
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
		return fmt.Sprintf("; for a key that not every map has, write [?'%s'].orValue(...), or ask '%s' in the map first", key, key)
	}
	return ""
}
