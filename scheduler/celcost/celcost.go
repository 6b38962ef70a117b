// Package celcost bounds what the evaluation of a CEL expression takes. CEL's own cost limit counts steps, in a time that grows with
// their square; it does not count what a step makes, so that a few hundred bytes become gigabytes: texts that replace, join and format grow, lists of lists that repeat
// each other, and functions whose work is the product of their arguments.
//
// Here every call is charged before it is made, by what it reads and what it may return, and every list and map by all that is in
// it. A function that has no price cannot be called.
//
// It may import CEL and scheduler/patterncost only.
package celcost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

const (
	// Budget is what one evaluation may be charged. A unit stands for about 16 bytes that are made, or some nanoseconds.
	Budget = 2_000_000
	// MaxSteps bounds the calls of one evaluation, and the lists and maps that it writes.
	MaxSteps = 3_000_000
	// MaxText bounds each text that an expression makes, in bytes.
	MaxText = 1 << 20
	// maxPattern bounds a regular expression, in bytes: repetitions expand.
	maxPattern = 256
	// maxPrecision bounds the digits of a number in a text.
	maxPrecision = 99
	// textUnit is how many bytes of a text cost a unit.
	textUnit = 16
)

// LimitError means that an evaluation would take too much.
type LimitError struct{ Message string }

func (e *LimitError) Error() string { return e.Message }

func (e *LimitError) stop() {
	panic(interpreter.EvalCancelledError{Message: e.Message, Cause: interpreter.CostLimitExceeded})
}

// maxDepth bounds how deep loops, lists and maps are in each other: CEL's types grow with each level, and the time of its checker
// with their product.
const maxDepth = 20

// Compile parses and checks an expression.
func Compile(env *cel.Env, text string) (*cel.Ast, *cel.Issues) {
	parsed, issues := env.Parse(text)
	if issues.Err() != nil {
		return nil, issues
	}
	if depth(parsed.NativeRep().Expr()) > maxDepth {
		all := common.NewErrors(parsed.Source())
		all.ReportErrorString(common.NewLocation(1, 0), fmt.Sprintf("loops, lists and maps are nested deeper than %d levels, the limit", maxDepth))
		return nil, cel.NewIssues(all)
	}
	return env.Check(parsed)
}

// Explain says what is wrong with an expression that Compile refused. It names the variables if one
// is unknown.
func Explain(e *common.Error, variables ...string) string {
	message := strings.TrimSuffix(strings.TrimPrefix(e.Message, "Syntax error: "), " (in container '')")
	if strings.HasPrefix(message, "undeclared reference") {
		message += "; the variables are " + strings.Join(variables, ", ")
	}
	return message
}

// depth returns how deep loops, lists and maps are in each other.
func depth(e ast.Expr) int {
	most := 0
	within := func(inner ...ast.Expr) {
		for _, one := range inner {
			most = max(most, depth(one))
		}
	}
	switch e.Kind() {
	case ast.CallKind:
		c := e.AsCall()
		if c.IsMemberFunction() {
			within(c.Target())
		}
		within(c.Args()...)
	case ast.SelectKind:
		within(e.AsSelect().Operand())
	case ast.ListKind:
		within(e.AsList().Elements()...)
		most++
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			within(entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
		most++
	case ast.StructKind:
		for _, field := range e.AsStruct().Fields() {
			within(field.AsStructField().Value())
		}
		most++
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		within(c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result())
		most++
	}
	return most
}

// budgetName is the name under which an evaluation finds its budget. No expression can name it, because of the @.
const budgetName = "@budget"

// budget is what is left for one evaluation.
type budget struct {
	left    int
	steps   int
	exceeds *LimitError
}

// step counts a call, or a list or map.
func (b *budget) step() {
	if b.steps++; b.steps > MaxSteps {
		b.fail("it takes more than %d steps, the limit", MaxSteps)
	}
}

func (b *budget) charge(units int) {
	if units > b.left {
		b.fail("it makes or reads more than %d MB, the limit", Budget*textUnit/1_000_000)
	}
	b.left -= units
}

func (b *budget) fail(format string, args ...any) {
	b.exceeds = &LimitError{fmt.Sprintf(format, args...)}
	b.exceeds.stop()
}

// activation gives an evaluation its budget.
type activation struct {
	interpreter.Activation
	budget *budget
}

func (a *activation) ResolveName(name string) (any, bool) {
	if name == budgetName {
		return a.budget, true
	}
	return a.Activation.ResolveName(name)
}

// Eval evaluates a program that was made with Option. It ends with ctx. The error is a *LimitError if the evaluation would take too
// much.
func Eval(ctx context.Context, p cel.Program, variables any) (ref.Val, error) {
	inner, err := interpreter.NewActivation(variables)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	b := &budget{left: Budget}
	value, _, err := p.ContextEval(ctx, &activation{inner, b})
	switch {
	case b.exceeds != nil:
		return nil, b.exceeds
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return value, err
}

// Unpriced returns the functions of env that have no price, and that no program can call.
func Unpriced(env *cel.Env) []string {
	var out []string
	for name := range env.Functions() {
		if _, priced := prices[name]; !priced && !logical[name] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Program makes a program of an expression that Compile returned. It charges its evaluations. A
// program that calls a function without a price cannot be made.
func Program(env *cel.Env, checked *cel.Ast, options ...cel.ProgramOption) (cel.Program, error) {
	charged, err := charging(env)
	if err != nil {
		return nil, err
	}
	return env.Program(checked, append(options, charged)...)
}

// charging returns the option of programs of env that charges their evaluations.
func charging(env *cel.Env) (cel.ProgramOption, error) {
	calls := map[string]*functions.Overload{}
	for name, f := range env.Functions() {
		if _, priced := prices[name]; !priced {
			continue
		}
		bindings, err := f.Bindings()
		if err != nil {
			return nil, err
		}
		for _, o := range bindings {
			calls[o.Operator] = o
		}
	}
	return cel.CustomDecoratorV2(func(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
		switch i := i.(type) {
		case interpreter.InterpretableConstructor:
			return &constructor{i}, nil
		case interpreter.InterpretableCall:
			price, ok := prices[i.Function()]
			if !ok {
				return nil, fmt.Errorf("the function %s is not available here: what it takes is not known", i.Function())
			}
			impl := calls[i.OverloadID()]
			if impl == nil || i.OverloadID() == "" {
				impl = calls[i.Function()]
			}
			return &call{InterpretableCall: i, price: price, impl: impl}, nil
		}
		return i, nil
	}), nil
}

func budgetOf(frame *interpreter.ExecutionFrame) *budget {
	found, _ := frame.ResolveName(budgetName)
	b, _ := found.(*budget)
	if b == nil {
		// A program that is not evaluated by Eval, such as one of constants while it is planned, has a small one.
		return &budget{left: Budget / 100}
	}
	return b
}

// constructor is a list or a map that an expression writes.
type constructor struct {
	interpreter.InterpretableConstructor
}

func (c *constructor) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	value := c.InterpretableConstructor.Exec(frame)
	b := budgetOf(frame)
	b.step()
	b.charge(weight(value, b.left))
	return value
}

func (c *constructor) Eval(vars interpreter.Activation) ref.Val {
	return c.Exec(interpreter.AsFrame(vars))
}

// call is a call that is charged before it is made.
type call struct {
	interpreter.InterpretableCall
	price price
	// impl is nil for operators that CEL evaluates itself.
	impl *functions.Overload
}

func (c *call) Eval(vars interpreter.Activation) ref.Val { return c.Exec(interpreter.AsFrame(vars)) }

func (c *call) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	nodes := c.Args()
	args := make([]ref.Val, len(nodes))
	lenient := c.impl != nil && c.impl.NonStrict
	for i, node := range nodes {
		args[i] = node.Exec(frame)
	}
	for _, arg := range args {
		if types.IsUnknownOrError(arg) && !lenient {
			return arg
		}
	}
	b := budgetOf(frame)
	b.step()
	c.price(b, args)
	result := c.made(args)
	switch r := result.(type) {
	case traits.MutableLister: // the list of a loop, whose items have been charged
		b.charge(2)
	case types.String:
		b.text(len(r))
	case types.Bytes:
		b.text(len(r))
	case traits.Lister:
		if c.Function() == operators.Add {
			// CEL would keep both lists and look into one after the other, to any depth.
			result = flat(b, r)
		} else if c.Function() != operators.Index {
			b.charge(weight(r, b.left))
		}
	}
	return result
}

// text charges a text that was made.
func (b *budget) text(length int) {
	if length > MaxText {
		b.fail("it makes a text of more than %d kB, the limit", MaxText>>10)
	}
	b.charge(1 + length/textUnit)
}

// flat returns a list that refers to no others.
func flat(b *budget, list traits.Lister) ref.Val {
	if _, made := list.Value().([]ref.Val); made && list.Size().(types.Int) < 2 {
		return list
	}
	n := int(list.Size().(types.Int))
	b.charge(1 + n)
	items := make([]ref.Val, 0, n)
	for it := list.Iterator(); it.HasNext() == types.True; {
		items = append(items, it.Next())
	}
	out := types.NewRefValList(types.DefaultTypeAdapter, items)
	b.charge(weight(out, b.left))
	return out
}

// made calls the function, as CEL does.
func (c *call) made(args []ref.Val) ref.Val {
	switch c.Function() {
	case operators.Equals:
		return types.Equal(args[0], args[1])
	case operators.NotEquals:
		return types.Bool(types.Equal(args[0], args[1]) != types.True)
	}
	if o := c.impl; o != nil {
		fits := o.OperandTrait == 0 || len(args) > 0 && (o.NonStrict && types.IsUnknownOrError(args[0]) || args[0].Type().HasTrait(o.OperandTrait))
		switch {
		case !fits:
		case len(args) == 1 && o.Unary != nil:
			return types.LabelErrNode(c.ID(), o.Unary(args[0]))
		case len(args) == 2 && o.Binary != nil:
			return types.LabelErrNode(c.ID(), o.Binary(args[0], args[1]))
		case o.Function != nil:
			return types.LabelErrNode(c.ID(), o.Function(args...))
		}
	}
	if len(args) > 0 {
		if receiver, ok := args[0].(traits.Receiver); ok && args[0].Type().HasTrait(traits.ReceiverType) {
			return types.LabelErrNode(c.ID(), receiver.Receive(c.Function(), c.OverloadID(), args[1:]))
		}
	}
	return types.NewErrWithNodeID(c.ID(), "no such overload: %s", c.Function())
}

// weight is the size of a value with all that is in it, as often as it is in it, in units. It stops soon after limit.
func weight(v any, limit int) int {
	if limit < 0 {
		return 1
	}
	total := 1
	add := func(inner any) bool {
		total += weight(inner, limit-total)
		return total <= limit
	}
	switch v := v.(type) {
	case types.String:
		return 1 + len(v)/textUnit
	case types.Bytes:
		return 1 + len(v)/textUnit
	case string:
		return 1 + len(v)/textUnit
	case []string:
		for _, s := range v {
			if !add(s) {
				break
			}
		}
	case []ref.Val:
		for _, inner := range v {
			if !add(inner) {
				break
			}
		}
	case map[ref.Val]ref.Val:
		for key, inner := range v {
			if !add(key) || !add(inner) {
				break
			}
		}
	case []any:
		for _, inner := range v {
			if !add(inner) {
				break
			}
		}
	case map[string]any:
		for key, inner := range v {
			if !add(key) || !add(inner) {
				break
			}
		}
	case *types.Optional:
		if v.HasValue() {
			add(v.GetValue())
		}
	case traits.MutableLister, traits.MutableMapper:
		// The items of a loop's list have been charged, and it is not read before the loop ends.
	case traits.Lister:
		switch items := v.Value().(type) {
		case []ref.Val, []string, []any:
			return weight(items, limit)
		}
		return 1 + int(v.Size().(types.Int)) // of values that are not CEL's
	case traits.Mapper:
		switch fields := v.Value().(type) {
		case map[ref.Val]ref.Val, map[string]any:
			return weight(fields, limit)
		}
		return 1 + int(v.Size().(types.Int))
	}
	return total
}

// IsLimit reports whether an evaluation ended because it would have taken too much.
func IsLimit(err error) bool {
	_, is := errors.AsType[*LimitError](err)
	return is
}
