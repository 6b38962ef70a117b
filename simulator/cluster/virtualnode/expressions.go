package virtualnode

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
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
			case p.Op == gojq.OpAdd:
				growth++
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
		case *gojq.Func:
			if !slices.Contains(jqFunctions, p.Name) {
				refused = p.Name
			}
		}
		if refused != "" && wrong == nil {
			wrong = fmt.Errorf("an expression of a stage only looks at its object; it cannot use %s", refused)
		}
	})
	if wrong == nil && growth > maxGrowth {
		wrong = fmt.Errorf("an expression of a stage has at most %d additions, this one %d", maxGrowth, growth)
	}
	return wrong
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
	count, nested := 0, false
	ast.PreOrderVisit(ast.NavigateAST(parsed.NativeRep()), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.ComprehensionKind {
			return
		}
		count++
		node := e.(ast.NavigableExpr)
		for outer, ok := node.Parent(); ok; outer, ok = outer.Parent() {
			nested = nested || outer.Kind() == ast.ComprehensionKind && !within(outer.AsComprehension().IterRange(), node)
		}
	}))
	if nested || count > maxComprehensions {
		return fmt.Errorf("an expression of a stage goes through at most %d lists, one after the other", maxComprehensions)
	}
	return nil
}

func within(e ast.Expr, part ast.NavigableExpr) bool {
	for inner, ok := part, true; ok; inner, ok = inner.Parent() {
		if inner.ID() == e.ID() {
			return true
		}
	}
	return false
}
