package cel

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/common/types"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/plugins/argument"
)

const FilterName = "CELFilter"

type FilterArguments struct {
	// Expression says whether the pod may run on the node. It is required.
	Expression string `json:"expression"`
	// Message is the reason that a rejected node gets. By default it quotes the
	// expression.
	Message string `json:"message,omitempty"`
	// MessageExpression gives the reason instead. If it fails, Message is used.
	MessageExpression string `json:"messageExpression,omitempty"`
}

// Filter rejects the nodes for which an expression is false.
type Filter struct {
	*signer
	expression        *expression
	messageExpression *expression // nil without
	message           string
	rejection         fwk.Code
}

var (
	_ fwk.FilterPlugin      = (*Filter)(nil)
	_ fwk.EnqueueExtensions = (*Filter)(nil)
	_ fwk.SignPlugin        = (*Filter)(nil)
)

// NewFilter is the factory of CELFilter. Mistakes in the arguments are
// argument.Errors.
func NewFilter(_ context.Context, args runtime.Object, _ fwk.Handle) (fwk.Plugin, error) {
	var a FilterArguments
	if err := argument.Decode(args, &a); err != nil {
		return nil, err
	}
	if strings.TrimSpace(a.Expression) == "" {
		return nil, &argument.Error{Field: "expression", Message: "is required, for example: node.metadata.labels['disk'] == 'ssd'"}
	}
	l, err := newLanguage()
	if err != nil {
		return nil, err
	}
	p := &Filter{message: a.Message, rejection: fwk.UnschedulableAndUnresolvable}
	var problems [2]error
	p.expression, problems[0] = l.compile("expression", a.Expression, "true or false", types.BoolType)
	if a.MessageExpression != "" {
		p.messageExpression, problems[1] = l.compile("messageExpression", a.MessageExpression, "a string", types.StringType)
	}
	if err := errors.Join(problems[:]...); err != nil {
		return nil, err
	}
	if p.message == "" {
		p.message = "node(s) didn't satisfy the expression " + cut(oneLine(a.Expression), maxQuote)
	}
	// Preemption can help only if the expression reads the node's pods.
	if p.expression.reads.runningPods() {
		p.rejection = fwk.Unschedulable
	}
	// The message of a rejection is for people; only the verdict is signed.
	p.signer = newSigner(l.schema, p.expression)
	return p, nil
}

// Name returns the name under which users enable the plugin.
func (*Filter) Name() string { return FilterName }

// Filter evaluates the expression. A failed evaluation is an error, not a rejection.
func (p *Filter) Filter(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	value, err := p.expression.evaluate(ctx, pod, node)
	switch {
	case ctx.Err() != nil:
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprint(context.Cause(ctx)))
	case err != nil:
		return fwk.AsStatus(err)
	case value == types.True:
		return nil
	}
	return fwk.NewStatus(p.rejection, p.reason(ctx, pod, node))
}

// The limits of a reason, which goes into the pod's conditions and events.
const (
	maxReason = 512
	maxQuote  = 160
)

func (p *Filter) reason(ctx context.Context, pod *v1.Pod, node fwk.NodeInfo) string {
	if p.messageExpression == nil {
		return cut(p.message, maxReason)
	}
	value, err := p.messageExpression.evaluate(ctx, pod, node)
	if text, ok := value.(types.String); err == nil && ok && strings.TrimSpace(string(text)) != "" {
		return cut(oneLine(string(text)), maxReason)
	}
	return cut(p.message, maxReason)
}

// EventsToRegister names the events that may change the expression's value, whichever fields it
// reads.
func (p *Filter) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	events := []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.Update}},
		{Event: fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.Update}},
	}
	if p.expression.reads.runningPods() {
		events = append(events, fwk.ClusterEventWithHint{Event: fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: fwk.All}})
	}
	return events, nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// cut shortens s to about n bytes and marks the cut.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
