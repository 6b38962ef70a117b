package virtualnode

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"
	"github.com/itchyny/gojq"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
)

// kwok's engine bounds neither the time nor the memory that the expressions of a stage take. So a
// stage may only look at its object: what it evaluates takes no more than a few times as much as
// the object has fields.

const (
	maxExpression = 1024 // characters
	// maxGrowth bounds the operators that can double what they are given.
	maxGrowth = 4
	// maxPattern bounds a regular expression, in characters.
	maxPattern = 100
	// maxComprehensions bounds the macros of CEL that go through a list. None may stand within
	// another.
	maxComprehensions = 2
)

// jqFunctions are those that a stage may call. Each makes at most about what it is given.
var jqFunctions = []string{
	"all", "any", "ascii_downcase", "ascii_upcase", "contains", "empty", "endswith", "false", "first", "fromdate", "fromdateiso8601", "has", "inside",
	"keys", "last", "length", "ltrimstr", "map", "max", "min", "not", "now", "null", "rtrimstr", "select", "startswith", "test", "todate", "tonumber",
	"tostring", "true", "type",
}

// jqTerms are the kinds of terms that a stage may use.
var jqTerms = []gojq.TermType{
	gojq.TermTypeIdentity, gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse, gojq.TermTypeIndex, gojq.TermTypeFunc, gojq.TermTypeArray,
	gojq.TermTypeNumber, gojq.TermTypeUnary, gojq.TermTypeString, gojq.TermTypeIf, gojq.TermTypeTry, gojq.TermTypeQuery,
}

// checkExpressions refuses expressions that may take more than they look at.
func checkExpressions(stage *internalversion.Stage) error {
	spec := &stage.Spec
	from := func(place string, e *internalversion.ExpressionFrom) error {
		switch {
		case e == nil:
			return nil
		case e.JQ != nil:
			return at(place, checkJQ(e.JQ.Expression))
		case e.CEL != nil:
			return at(place, checkCEL(e.CEL.Expression))
		}
		return nil
	}
	var errs []error
	for i, e := range spec.Selector.MatchExpressions {
		place := fmt.Sprintf("selector.matchExpressions[%d]", i)
		switch {
		case e.JQ != nil:
			errs = append(errs, at(place, checkJQ(e.JQ.Key)))
		case e.CEL != nil:
			errs = append(errs, at(place, checkCEL(e.CEL.Expression)))
		}
	}
	errs = append(errs, from("weightFrom", spec.WeightFrom))
	if spec.Delay != nil {
		errs = append(errs, from("delay.durationFrom", spec.Delay.DurationFrom), from("delay.jitterDurationFrom", spec.Delay.JitterDurationFrom))
	}
	return errors.Join(errs...)
}

func at(place string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	return nil
}

func checkLength(text string) error {
	if len(text) > maxExpression {
		return fmt.Errorf("an expression of a stage has at most %d characters, this one %d", maxExpression, len(text))
	}
	return nil
}

// checkJQ says nothing of a malformed expression: kwok's engine does.
func checkJQ(text string) error {
	if err := checkLength(text); err != nil {
		return err
	}
	query, err := gojq.Parse(text)
	if err != nil {
		return nil
	}
	growth := 0
	var wrong error
	parts(reflect.ValueOf(query), func(part any) {
		refused := ""
		switch p := part.(type) {
		case *gojq.Query:
			switch {
			case len(p.FuncDefs) > 0:
				refused = "def"
			case len(p.Imports) > 0:
				refused = "import"
			case len(p.Patterns) > 0:
				refused = "as"
			case p.Op == gojq.OpComma || p.Op == gojq.OpMul:
				refused = p.Op.String()
			case p.Op == gojq.OpAdd && !isNumber(p.Left) && !isNumber(p.Right):
				growth++
			case (p.Op == gojq.OpSub || p.Op == gojq.OpDiv) && !isNumber(p.Left) && !isNumber(p.Right):
				refused = p.Op.String() + " without a number"
			case p.Op != 0 && p.Op != gojq.OpPipe && many(p.Left) && many(p.Right):
				refused = "a pair of iterators around " + p.Op.String()
			}
		case *gojq.Term:
			if !slices.Contains(jqTerms, p.Type) {
				refused = strings.ToLower(strings.TrimPrefix(p.Type.GoString(), "gojq.TermType"))
			}
		case *gojq.String:
			if len(p.Queries) > 0 {
				refused = "an expression within a text"
			}
		case *gojq.Index:
			if p.Start != nil && !isLiteral(p.Start) || p.End != nil && !isLiteral(p.End) {
				refused = "an index that it computes"
			}
		case *gojq.Func:
			switch {
			case !slices.Contains(jqFunctions, p.Name):
				refused = p.Name
			case p.Name == "tostring":
				growth++
			case slices.Contains(comparing, p.Name) && (!isLiteral(p.Args[0]) || p.Name == "test" && !isSimple(p.Args[0].Term.Str.Str)):
				refused = p.Name + " with anything but a simple text"
			}
		}
		if refused != "" && wrong == nil {
			wrong = fmt.Errorf("an expression of a stage only looks at its object; it cannot use %s", refused)
		}
	})
	return cmp.Or(wrong, checkGrowth(growth))
}

// comparing are functions of jq that compare everything with everything.
var comparing = []string{"contains", "inside", "test"}

// isLiteral reports whether a query is a number or a text.
func isLiteral(q *gojq.Query) bool {
	return q.Term != nil && len(q.Term.SuffixList) == 0 && (q.Term.Type == gojq.TermTypeNumber || q.Term.Type == gojq.TermTypeString)
}

// isNumber reports whether a query makes a number, or nothing.
func isNumber(q *gojq.Query) bool {
	switch {
	case q == nil:
		return false
	case q.Term == nil:
		return q.Op == gojq.OpPipe && isNumber(q.Right)
	case q.Term.Type == gojq.TermTypeFunc:
		return slices.Contains([]string{"fromdate", "fromdateiso8601", "length", "now", "tonumber"}, q.Term.Func.Name)
	case q.Term.Type == gojq.TermTypeQuery:
		return isNumber(q.Term.Query)
	}
	return q.Term.Type == gojq.TermTypeNumber
}

// isSimple reports whether a pattern is as long as it is written: a repetition by a number expands.
func isSimple(pattern string) bool {
	return len(pattern) <= maxPattern && !strings.Contains(pattern, "{")
}

// many reports whether a query can have more than one result. What any, all, map or an array goes
// through makes one result.
func many(q *gojq.Query) (found bool) {
	parts(reflect.ValueOf(q), func(part any) {
		switch p := part.(type) {
		case *gojq.Suffix:
			found = found || p.Iter
		case *gojq.Func:
			found = found || p.Name == "first" || p.Name == "last"
		}
	}, "any", "all", "map")
	return found
}

// parts calls do for each pointer to a part of a query, but not within arrays, and calls of the
// functions that are named, if any are.
func parts(v reflect.Value, do func(any), single ...string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if len(single) > 0 {
			switch p := v.Interface().(type) {
			case *gojq.Array:
				return
			case *gojq.Func:
				if slices.Contains(single, p.Name) {
					return
				}
			}
		}
		do(v.Interface())
		parts(v.Elem(), do, single...)
	case reflect.Slice:
		for i := range v.Len() {
			parts(v.Index(i), do, single...)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			parts(field, do, single...)
		}
	}
}

// checkCEL says nothing of a malformed expression: kwok's engine does.
func checkCEL(text string) error {
	if err := checkLength(text); err != nil {
		return err
	}
	env, err := cel.NewEnv()
	if err != nil {
		return err
	}
	parsed, issues := env.Parse(text)
	if issues.Err() != nil {
		return nil
	}
	count, growth, nested := 0, 0, false
	var wrong error
	ast.PreOrderVisit(ast.NavigateAST(parsed.NativeRep()), ast.NewExprVisitor(func(e ast.Expr) {
		node := e.(ast.NavigableExpr)
		inLoop := false
		for outer, ok := node.Parent(); ok; outer, ok = outer.Parent() {
			inLoop = inLoop || outer.Kind() == ast.ComprehensionKind && !within(outer.AsComprehension().IterRange(), node)
		}
		switch {
		case e.Kind() == ast.ComprehensionKind:
			count++
			nested = nested || inLoop
		case e.Kind() == ast.IdentKind && e.AsIdent() == "self" && inLoop:
			wrong = errors.New("an expression of a stage looks only at the elements of a list while it goes through it, not at self")
		case e.Kind() != ast.CallKind:
		case e.AsCall().FunctionName() == operators.Add && !slices.ContainsFunc(e.AsCall().Args(), addsLittle):
			growth++
		case e.AsCall().FunctionName() == overloads.Matches:
			args := e.AsCall().Args()
			last := args[len(args)-1]
			if last.Kind() != ast.LiteralKind || !isSimple(fmt.Sprint(last.AsLiteral().Value())) {
				wrong = fmt.Errorf("an expression of a stage matches only patterns that are texts of at most %d characters, without {", maxPattern)
			}
		}
	}))
	if nested || count > maxComprehensions {
		return fmt.Errorf("an expression of a stage goes through at most %d lists, one after the other", maxComprehensions)
	}
	return cmp.Or(wrong, checkGrowth(growth))
}

func checkGrowth(growth int) error {
	if growth > maxGrowth {
		return fmt.Errorf("an expression of a stage has at most %d additions, this one %d", maxGrowth, growth)
	}
	return nil
}

// addsLittle reports whether an operand of an addition is a number, or what a macro has collected so far.
func addsLittle(e ast.Expr) bool {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent() == parser.AccumulatorName || e.AsIdent() == parser.HiddenAccumulatorName
	case ast.LiteralKind:
		return e.AsLiteral().Type() != types.StringType && e.AsLiteral().Type() != types.BytesType
	}
	return false
}

func within(e ast.Expr, part ast.NavigableExpr) bool {
	for inner, ok := part, true; ok; inner, ok = inner.Parent() {
		if inner.ID() == e.ID() {
			return true
		}
	}
	return false
}
