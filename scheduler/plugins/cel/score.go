package cel

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/pluginfact"
	"kube-scheduler-simulator/scheduler/plugins/argument"
)

const ScoreName = "CELScore"

type ScoreArguments struct {
	// Expression gives the node's value for the pod, a number; higher is better. It
	// is required.
	Expression string `json:"expression"`
	// Normalize spreads the values over 0 to 100, the lowest to 0 and the highest
	// to 100. Without it, a value is the score and must be in that range.
	Normalize bool `json:"normalize,omitempty"`
}

// Score ranks nodes by the value of an expression.
type Score struct {
	*signer
	expression *expression
	normalize  bool
}

var (
	_ fwk.ScorePlugin     = (*Score)(nil)
	_ fwk.SignPlugin      = (*Score)(nil)
	_ fwk.ScoreExtensions = spread{}
)

// NewScore is the factory of CELScore. Mistakes in the arguments are
// argument.Errors.
func NewScore(_ context.Context, args runtime.Object, _ fwk.Handle) (fwk.Plugin, error) {
	var a ScoreArguments
	if err := argument.Decode(args, &a); err != nil {
		return nil, err
	}
	if strings.TrimSpace(a.Expression) == "" {
		return nil, &argument.Error{Field: "expression", Message: "is required, for example: 100.0 * nodeRequested.cpu / nodeAllocatable.cpu"}
	}
	l, err := newLanguage()
	if err != nil {
		return nil, err
	}
	e, err := l.compile("expression", a.Expression, "a number", types.IntType, types.UintType, types.DoubleType)
	if err != nil {
		return nil, err
	}
	return &Score{signer: newSigner(l.schema, e), expression: e, normalize: a.Normalize}, nil
}

// Name returns the name under which users enable the plugin.
func (*Score) Name() string { return ScoreName }

// perUnit is the raw score for a value of 1 before normalization. Raw scores are whole numbers, and
// values often lie between 0 and 1.
const perUnit = 1000

// Score evaluates the expression. If the score differs from the value, Score
// records the value as a fact about the node.
func (p *Score) Score(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	result, err := p.expression.evaluate(ctx, pod, node)
	if err != nil {
		return 0, fwk.AsStatus(err)
	}
	value := number(result)
	score, err := p.scoreOf(value)
	if err != nil {
		return 0, fwk.AsStatus(fmt.Errorf("scoring node %q: %w", node.Node().Name, err))
	}
	if float64(score) != value {
		pluginfact.RecordNode(state, ScoreName, node.Node().Name, "value", strconv.FormatFloat(value, 'g', 6, 64))
	}
	return score, nil
}

func number(v ref.Val) float64 {
	switch v := v.(type) {
	case types.Int:
		return float64(v)
	case types.Uint:
		return float64(v)
	case types.Double:
		return float64(v)
	}
	return math.NaN()
}

func (p *Score) scoreOf(value float64) (int64, error) {
	least, greatest := float64(fwk.MinScore), float64(fwk.MaxScore)
	switch {
	case math.IsNaN(value) || math.IsInf(value, 0):
		return 0, fmt.Errorf("the expression gives %v, as a division by zero does; a score is a number", value)
	case p.normalize && math.Abs(value) > math.MaxInt64/2/perUnit:
		return 0, fmt.Errorf("the expression gives %g, which is too large: divide it", value)
	case p.normalize:
		return int64(math.Round(value * perUnit)), nil
	case value < least || value > greatest:
		return 0, fmt.Errorf("the expression gives %g, and a score is from %g to %g: scale it, or set normalize: true", value, least, greatest)
	}
	return int64(math.Round(value)), nil
}

// ScoreExtensions is nil without normalize.
func (p *Score) ScoreExtensions() fwk.ScoreExtensions {
	if !p.normalize {
		return nil
	}
	return spread{}
}

type spread struct{}

// NormalizeScore maps the lowest score to 0 and the highest to 100. If all are
// equal, all become 100.
func (spread) NormalizeScore(_ context.Context, _ fwk.CycleState, _ *v1.Pod, scores fwk.NodeScoreList) *fwk.Status {
	if len(scores) == 0 {
		return nil
	}
	least, greatest := scores[0].Score, scores[0].Score
	for _, s := range scores {
		least, greatest = min(least, s.Score), max(greatest, s.Score)
	}
	for i, s := range scores {
		scores[i].Score = fwk.MaxScore
		if least != greatest {
			part := float64(s.Score-least) / float64(greatest-least)
			scores[i].Score = fwk.MinScore + int64(math.Round(part*float64(fwk.MaxScore-fwk.MinScore)))
		}
	}
	return nil
}
