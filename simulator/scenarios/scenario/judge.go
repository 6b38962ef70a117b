package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// parts are the conditions of an expectation, each of which can be looked at alone.
type parts struct {
	list []*condition
	// pods are the lists of pods in the expression, outermost first. preempted[i] says that pods[i]
	// is a call of preempted.
	pods      []*program
	preempted []bool
}

type condition struct {
	*program
	left *program
	// Of all(): its list, and the items that do not meet it.
	list, offenders *program
	// The arguments of the first spread().
	spreadPods, spreadKey *program
}

var comparisons = []string{operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals, operators.Equals, operators.NotEquals}

// A part without text of its own is left out: the expectation is then explained with less.
func (l *language) parts(p *program) *parts {
	out := &parts{}
	native := p.ast.NativeRep()
	compile := func(text string, err error) *program {
		if err != nil {
			return nil
		}
		part, mistakes := l.compile(Expression{Text: text, File: p.File, Line: p.Line}, nil)
		if mistakes != nil {
			return nil
		}
		return part
	}
	part := func(e ast.Expr) *program { return compile(text(e, p.ast)) }
	var split func(e ast.Expr)
	split = func(e ast.Expr) {
		if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.LogicalAnd {
			for _, arg := range e.AsCall().Args() {
				split(arg)
			}
			return
		}
		c := &condition{program: part(e)}
		if c.program == nil {
			return
		}
		if e.Kind() == ast.CallKind && slices.Contains(comparisons, e.AsCall().FunctionName()) {
			c.left = part(e.AsCall().Args()[0])
		}
		if macro, ok := native.SourceInfo().GetMacroCall(e.ID()); ok && macro.AsCall().FunctionName() == operators.All {
			call := macro.AsCall()
			list, err := text(call.Target(), p.ast)
			predicate, err2 := text(call.Args()[1], p.ast)
			c.list = compile(list, err)
			c.offenders = compile(fmt.Sprintf("(%s).filter(%s, !(%s))", list, call.Args()[0].AsIdent(), predicate), errors.Join(err, err2))
		}
		eachCall(e, spreadCall, func(call ast.CallExpr) {
			if c.spreadPods == nil {
				c.spreadPods, c.spreadKey = part(call.Args()[0]), part(call.Args()[1])
			}
		})
		out.list = append(out.list, c)
	}
	split(native.Expr())
	eachPods(native, native.Expr(), func(e ast.Expr) {
		if list := part(e); list != nil {
			macro, isMacro := native.SourceInfo().GetMacroCall(e.ID())
			out.pods = append(out.pods, list)
			out.preempted = append(out.preempted, isMacro && macro.AsCall().FunctionName() == "preempted")
		}
	})
	return out
}

func eachCall(e ast.Expr, function string, visit func(ast.CallExpr)) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == function {
			visit(e.AsCall())
		}
	}))
}

// eachPods visits the outermost lists of pods that need no variable of a loop.
func eachPods(of *ast.AST, e ast.Expr, visit func(ast.Expr)) {
	if of.GetType(e.ID()).IsExactType(types.NewListType(podType)) {
		visit(e)
		return
	}
	switch e.Kind() {
	case ast.CallKind:
		if e.AsCall().IsMemberFunction() {
			eachPods(of, e.AsCall().Target(), visit)
		}
		for _, arg := range e.AsCall().Args() {
			eachPods(of, arg, visit)
		}
	case ast.SelectKind:
		eachPods(of, e.AsSelect().Operand(), visit)
	case ast.ComprehensionKind:
		eachPods(of, e.AsComprehension().IterRange(), visit)
	}
}

const maxOffenders = 10

// An expression that cannot be evaluated does not hold.
func (r *run) judge(x *expectation) (ExpectationResult, error) {
	out := ExpectationResult{Line: x.That.Line, Say: x.Say, That: x.That.Text}
	value, err := r.evaluate(x.program)
	switch {
	case r.ctx.Err() != nil:
		return out, r.ctx.Err()
	case err != nil:
		out.Error = err.Error()
		return out, nil
	}
	out.Passed = value == types.True
	var suspects []*Pod
	for _, c := range x.program.parts.list {
		held, err := r.evaluate(c.program)
		if err != nil || !out.Passed && held == types.True {
			continue // the expectation fails for another condition
		}
		finding, offenders := r.find(c)
		out.Findings = append(out.Findings, finding)
		suspects = append(suspects, offenders...)
	}
	if !out.Passed {
		out.Decision, err = r.explain(x.program.parts, suspects)
	}
	return out, err
}

// find says what there is, and which pods are to blame.
func (r *run) find(c *condition) (Finding, []*Pod) {
	f := Finding{Expected: c.Text}
	var blamed []*Pod
	if c.left != nil {
		if value, err := r.evaluate(c.left); err == nil {
			f.Value = show(value)
		}
	}
	if c.spreadPods != nil && c.spreadKey != nil {
		pods, err := r.evaluate(c.spreadPods)
		key, err2 := r.evaluate(c.spreadKey)
		if k, isText := key.(types.String); err == nil && err2 == nil && isText {
			f.Domains = domains(podsOf(pods), string(k), r.view.nodes)
			blamed = inFullest(podsOf(pods), f.Domains, string(k), r.view.nodes)
		}
	}
	if c.list != nil && c.offenders != nil {
		all, err := r.evaluate(c.list)
		not, err2 := r.evaluate(c.offenders)
		if err == nil && err2 == nil {
			of := len(items(all))
			f.Of, f.Held = &of, of-len(items(not))
			for i, item := range items(not) {
				if i < maxOffenders {
					f.Offenders = append(f.Offenders, show(item))
				}
			}
			blamed = append(blamed, podsOf(not)...)
		}
	}
	if c.left == nil && f.Of == nil {
		if value, err := r.evaluate(c.program); err == nil {
			f.Value = show(value)
		}
	}
	return f, blamed
}

func inFullest(pods []*Pod, all []Domain, key string, nodes []*Node) []*Pod {
	if len(all) == 0 {
		return nil
	}
	fullest := slices.MaxFunc(all, func(a, b Domain) int { return cmp.Compare(a.Pods, b.Pods) })
	var out []*Pod
	for _, p := range pods {
		for _, d := range domains([]*Pod{p}, key, nodes) {
			if d.Name == fullest.Name && d.Pods == 1 {
				out = append(out, p)
			}
		}
	}
	return out
}

// explain returns the last decision about the pods to blame, pending ones first; without any, about
// the pods of the expression. For preempted ones it is the decision that preempted them.
func (r *run) explain(p *parts, blamed []*Pod) (*Decision, error) {
	if d, err := r.lastAbout(blamed); d != nil || err != nil {
		return d, err
	}
	for i, list := range p.pods {
		value, err := r.evaluate(list)
		if err != nil {
			continue
		}
		pods := podsOf(value)
		if p.preempted[i] {
			pods = r.preemptorsOf(pods)
		}
		if d, err := r.lastAbout(pods); d != nil || err != nil {
			return d, err
		}
	}
	return nil, nil
}

func (r *run) preemptorsOf(pods []*Pod) []*Pod {
	var out []*Pod
	for _, v := range r.victims {
		if slices.ContainsFunc(pods, func(p *Pod) bool { return p.UID == v.Pod.UID }) {
			out = append(out, &Pod{Name: v.preemptor.Pod.Name, Namespace: v.preemptor.Pod.Namespace, UID: v.preemptor.Pod.UID})
		}
	}
	return out
}

func (r *run) lastAbout(pods []*Pod) (*Decision, error) {
	pending := slices.DeleteFunc(slices.Clone(pods), func(p *Pod) bool { return p.Node != "" })
	for _, group := range [][]*Pod{pending, pods} {
		best := -1
		for _, p := range group {
			if at, known := r.last[p.UID]; known {
				best = max(best, at)
			}
		}
		if best >= 0 {
			return r.decision(r.summaries[best].Pod.UID)
		}
	}
	return nil, nil
}

func items(list ref.Val) []ref.Val {
	l, isList := list.(traits.Lister)
	if !isList {
		return nil
	}
	var out []ref.Val
	for it := l.Iterator(); it.HasNext() == types.True; {
		out = append(out, it.Next())
	}
	return out
}

func show(value ref.Val) string {
	switch v := value.(type) {
	case object:
		switch o := v.value.(type) {
		case *Pod:
			return o.Name
		case *Node:
			return o.Name
		}
	case types.String:
		return fmt.Sprintf("%q", string(v))
	case types.Double:
		return fmt.Sprintf("%.4g", float64(v))
	case types.Duration:
		return v.Duration.String()
	case types.Int, types.Uint, types.Bool, types.Timestamp:
		return fmt.Sprint(v.Value())
	}
	var names []string
	for i, item := range items(value) {
		if i == maxOffenders {
			names = append(names, "…")
			break
		}
		names = append(names, show(item))
	}
	return "[" + strings.Join(names, ", ") + "]"
}

func isNotFound(err error) bool { return apierrors.IsNotFound(err) }
