package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/parser"
	"go.yaml.in/yaml/v3"
	"k8s.io/apiserver/pkg/cel/library"

	"kube-scheduler-simulator/scheduler/celcost"
	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/scenarios/decoder"
)

const (
	maxExpression = 16 << 10
	// Loop iterations between two checks of the context.
	interruptEvery = 256
)

type Expression struct {
	Text         string
	File         string
	Line, Column int
	// Field is its path in the file.
	Field string
}

func (e *Expression) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		d.Add(n, at, "want a CEL expression, not %s", yamlsource.Describe(n))
		return
	}
	*e = Expression{Text: n.Value, File: d.File, Line: n.Line, Column: n.Column, Field: at}
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		e.Line, e.Column = n.Line+1, 0 // the text begins on the next line
	}
}

func (e Expression) mistake(line, column int, format string, args ...any) Mistake {
	m := Mistake{File: e.File, Line: e.Line, Column: e.Column, Field: e.Field, Message: fmt.Sprintf(format, args...)}
	if line > 1 {
		m.Line += line - 1
	} else if m.Column > 0 && column > 0 {
		m.Column += column
	}
	return m
}

// Hidden variables. No expression can name them, because of the @.
const (
	// ofPreempted begins the names of the variables that hold what others would if only the pods
	// that were preempted existed.
	ofPreempted = "@preempted_"
	spreadCall  = "@spread"
	lastCall    = "@last"
	objectsCall = "@objects_of"
	objectCall  = "@object_of"
	varObjects  = "@objects"
)

const (
	varPods      = "pods"
	varNodes     = "nodes"
	varDecisions = "decisions"
	varSeed      = "seed"
	varRun       = "run"
)

type language struct {
	env   *cel.Env
	names []string
}

func newLanguage(names ...cel.EnvOption) (*language, error) {
	base, err := cel.NewCustomEnv(
		cel.StdLib(), cel.ClearMacros(),
		cel.Macros(cel.AllMacro, cel.ExistsMacro, cel.ExistsOneMacro, cel.MapMacro, cel.MapFilterMacro, cel.FilterMacro,
			cel.GlobalMacro(operators.Has, 1, expandHas),
			cel.GlobalMacro("spread", 2, expandSpread),
			cel.GlobalMacro("last", 1, expandLast),
			cel.GlobalMacro("objects", 1, expandObjects),
			cel.GlobalMacro("object", 2, expandObject),
			cel.GlobalMacro("preempted", 1, expandPreempted)),
		cel.EnableMacroCallTracking(), cel.CrossTypeNumericComparisons(true),
		cel.ParserExpressionSizeLimit(maxExpression),
		ext.Strings(ext.StringsVersion(4)), ext.Math(ext.MathVersion(2)), ext.Lists(ext.ListsVersion(3)), ext.Sets(), library.Lists(),
	)
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	p := newProvider(base.CELTypeProvider(), base.CELTypeAdapter())
	options := []cel.EnvOption{
		cel.CustomTypeProvider(p), cel.CustomTypeAdapter(p),
		cel.Variable(varSeed, types.IntType),
		cel.Function(spreadCall, cel.Overload("spread_pods_key_nodes", []*types.Type{types.NewListType(podType), types.StringType, types.NewListType(nodeType)}, types.IntType,
			cel.FunctionBinding(func(args ...ref.Val) ref.Val {
				return types.Int(skew(domains(podsOf(args[0]), string(args[1].(types.String)), nodesOf(args[2]))))
			}))),
		cel.Function(lastCall, cel.Overload("last_pod_decisions", []*types.Type{types.StringType, types.NewListType(decisionType)}, decisionType, cel.BinaryBinding(lastOf))),
		cel.Function(objectsCall, cel.Overload("objects_kind", []*types.Type{types.StringType, types.DynType}, types.NewListType(types.DynType), cel.BinaryBinding(objectsOfKind))),
		cel.Function(objectCall, cel.Overload("object_kind_name", []*types.Type{types.StringType, types.StringType, types.DynType}, types.DynType, cel.FunctionBinding(objectNamed))),
	}
	env, err := base.Extend(append(options, names...)...)
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	return &language{env: env, names: []string{varSeed}}, nil
}

// clusterLanguage has no let.
func clusterLanguage() (*language, error) {
	l, err := newLanguage(
		cel.Variable(varPods, types.NewListType(podType)), cel.Variable(ofPreempted+varPods, types.NewListType(podType)),
		cel.Variable(varNodes, types.NewListType(nodeType)), cel.Variable(varDecisions, types.NewListType(decisionType)),
		cel.Variable(varObjects, types.DynType), cel.Variable(varRun, totalsType))
	if err == nil {
		l.names = append(l.names, varPods, varNodes, varDecisions, varRun)
	}
	return l, err
}

// with adds a variable, and the same for what was preempted.
func (l *language) with(name string, t *types.Type) (*language, error) {
	env, err := l.env.Extend(cel.Variable(name, t), cel.Variable(ofPreempted+name, t))
	if err != nil {
		return nil, fmt.Errorf("declaring %s: %w", name, err)
	}
	return &language{env: env, names: append(slices.Clip(l.names), name)}, nil
}

// They have a value for every key, see always. So has() asks for the key itself.
var totalMaps = []string{"labels", "requests", "requested", "allocatable"}

func expandHas(eh cel.MacroExprFactory, target ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
	if args[0].Kind() != ast.SelectKind {
		return nil, eh.NewError(args[0].ID(), "has() wants a field, such as has(p.labels.app)")
	}
	s := args[0].AsSelect()
	if s.Operand().Kind() == ast.SelectKind && slices.Contains(totalMaps, s.Operand().AsSelect().FieldName()) {
		return eh.NewCall(operators.In, eh.NewLiteral(types.String(s.FieldName())), s.Operand()), nil
	}
	return eh.NewPresenceTest(s.Operand(), s.FieldName()), nil
}

func expandSpread(eh cel.MacroExprFactory, target ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
	return eh.NewCall(spreadCall, args[0], args[1], eh.NewIdent(varNodes)), nil
}

func expandLast(eh cel.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
	return eh.NewCall(lastCall, args[0], eh.NewIdent(varDecisions)), nil
}

func expandObjects(eh cel.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
	return eh.NewCall(objectsCall, args[0], eh.NewIdent(varObjects)), nil
}

func expandObject(eh cel.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
	return eh.NewCall(objectCall, args[0], args[1], eh.NewIdent(varObjects)), nil
}

// expandPreempted evaluates the argument as if only the preempted pods existed.
func expandPreempted(eh cel.MacroExprFactory, target ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
	e := eh.Copy(args[0])
	rename(eh, e)
	return e, nil
}

// rename makes an expression read the variables about preempted pods. Only pods and let may depend
// on them.
func rename(eh cel.MacroExprFactory, e ast.Expr) {
	eachFree(e, nil, func(e ast.Expr) {
		name := e.AsIdent()
		if name != varNodes && name != varDecisions && name != varSeed && name != varRun && !strings.HasPrefix(name, "@") {
			e.SetKindCase(eh.NewIdent(ofPreempted + name))
		}
	})
}

// eachFree visits the variables of an expression, without those of its loops and of the loops
// around it, which are bound.
func eachFree(e ast.Expr, bound []string, visit func(ast.Expr)) {
	switch e.Kind() {
	case ast.IdentKind:
		if !slices.Contains(bound, e.AsIdent()) {
			visit(e)
		}
	case ast.CallKind:
		c := e.AsCall()
		if c.IsMemberFunction() {
			eachFree(c.Target(), bound, visit)
		}
		for _, arg := range c.Args() {
			eachFree(arg, bound, visit)
		}
	case ast.SelectKind:
		eachFree(e.AsSelect().Operand(), bound, visit)
	case ast.ListKind:
		for _, item := range e.AsList().Elements() {
			eachFree(item, bound, visit)
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			eachFree(entry.AsMapEntry().Key(), bound, visit)
			eachFree(entry.AsMapEntry().Value(), bound, visit)
		}
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		eachFree(c.IterRange(), bound, visit)
		inner := append(slices.Clip(bound), c.IterVar(), c.IterVar2(), c.AccuVar())
		for _, part := range []ast.Expr{c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()} {
			eachFree(part, inner, visit)
		}
	}
}

type program struct {
	Expression
	ast     *cel.Ast
	program cel.Program
	// parts explain a failed expectation; nil for other expressions.
	parts *parts
	// readsDecisions: it reads more of decisions than their summaries.
	readsDecisions bool
}

// compile checks an expression; want nil permits any type.
func (l *language) compile(e Expression, want *types.Type) (*program, []Mistake) {
	if strings.TrimSpace(e.Text) == "" {
		return nil, []Mistake{e.mistake(0, 0, "the expression is empty")}
	}
	compiled, issues := celcost.Compile(l.env, e.Text)
	if issues.Err() != nil {
		var mistakes []Mistake
		for _, i := range issues.Errors() {
			mistakes = append(mistakes, e.mistake(i.Location.Line(), i.Location.Column(), "%s", celcost.Explain(i, l.names...)))
		}
		return nil, mistakes
	}
	if got := compiled.OutputType(); want != nil && !want.IsAssignableType(got) {
		return nil, []Mistake{e.mistake(0, 0, "want %s, and the expression is %s", typeName(want), typeName(got))}
	}
	p, err := celcost.Program(l.env, compiled, cel.InterruptCheckFrequency(interruptEvery))
	if err != nil {
		return nil, []Mistake{e.mistake(0, 0, "%s", err)}
	}
	return &program{Expression: e, ast: compiled, program: p, readsDecisions: readsDecisions(compiled.NativeRep().Expr())}, nil
}

// readsDecisions reports whether an expression selects a field of wholeFields, of whatever: the
// type may be known only when it is evaluated.
func readsDecisions(e ast.Expr) bool {
	reads := false
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		reads = reads || e.Kind() == ast.SelectKind && wholeFields.Has(e.AsSelect().FieldName())
	}))
	return reads
}

func typeName(t *types.Type) string {
	switch t.Kind() {
	case types.BoolKind:
		return "true or false"
	case types.IntKind, types.UintKind, types.DoubleKind:
		return "a number"
	case types.StringKind:
		return "a string"
	case types.DurationKind:
		return "a duration"
	case types.ListKind:
		switch t.Parameters()[0].TypeName() {
		case podType.TypeName():
			return "a list of pods"
		case nodeType.TypeName():
			return "a list of nodes"
		}
		return "a list"
	case types.StructKind:
		return "a " + t.TypeName()
	}
	return t.String()
}

func (p *program) evaluate(ctx context.Context, variables any) (ref.Val, error) {
	return celcost.Eval(ctx, p.program, variables)
}

// identifiers leaves out the variables of loops.
func (l *language) identifiers(text string) []string {
	parsed, issues := l.env.Parse(text)
	if issues.Err() != nil {
		return nil // compile says what is wrong
	}
	var names []string
	eachFree(parsed.NativeRep().Expr(), nil, func(e ast.Expr) {
		names = append(names, strings.TrimPrefix(e.AsIdent(), ofPreempted))
	})
	return names
}

func text(e ast.Expr, of *cel.Ast) (string, error) {
	s, err := parser.Unparse(e, of.NativeRep().SourceInfo())
	if err != nil || s == "" {
		return "", errors.Join(err, errors.New("the part has no text"))
	}
	return s, nil
}
