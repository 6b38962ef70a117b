package upgrade

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/versions"
)

// APIVersion and Kind identify an Answer.
const (
	APIVersion = "upgrade.kube-scheduler-simulator/v1"
	Kind       = "UpgradeReport"
)

// Question asks what an upgrade does to decisions. Its JSON form is public.
type Question struct {
	// From and To are minor versions, such as 1.35. An empty From is the version of the cluster, if that is known; an empty To is this
	// program's own. From may be the later one.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Configuration is a KubeSchedulerConfiguration in JSON or YAML for both versions; that of the cluster if it is empty.
	Configuration string `json:"configuration,omitempty"`
	// FromGates and ToGates set feature gates of one version, by name.
	FromGates map[string]bool `json:"fromGates,omitempty"`
	ToGates   map[string]bool `json:"toGates,omitempty"`
}

// Answer is a report with what it is about. Its JSON form is public.
type Answer struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Judged     Judged `json:"judged"`
	// Sentence is the answer in short.
	Sentence string `json:"sentence"`
	Report
	// NotJudged is what the report leaves out, a sentence each.
	NotJudged []string `json:"notJudged,omitempty"`
}

// Judged says what was compared.
type Judged struct {
	// Cluster completes the sentence "Each decision of …".
	Cluster string      `json:"cluster"`
	At      metav1.Time `json:"at"`
	Seconds float64     `json:"seconds"`
}

// Load is what a cluster gives to compare.
type Load struct {
	// Source has the steps.
	Source Source
	// Cluster is as in Judged.
	Cluster string
	// Version is that of the cluster, such as v1.35.4; empty if it is not known.
	Version string
	// Configuration is the cluster's own KubeSchedulerConfiguration; empty for the default.
	Configuration []byte
	// NotJudged is as in Answer.
	NotJudged []string
}

// Cluster is asked about an upgrade.
type Cluster interface {
	Load(ctx context.Context) (*Load, error)
}

// Ask answers a question. progress is called after each decision; it may be nil. Errors about the question are a *QuestionError, or
// one of package versions'. There is an answer only if every decision was made by both versions.
func Ask(ctx context.Context, c Cluster, q Question, progress func(Progress)) (*Answer, error) {
	return ask(ctx, c, q, Options{}, progress)
}

// QuestionError means that a question can't be answered as it is.
type QuestionError struct {
	// Field is the field of Question that is wrong.
	Field, Message string
}

func (e *QuestionError) Error() string { return e.Message }

func ask(ctx context.Context, c Cluster, q Question, options Options, progress func(Progress)) (*Answer, error) {
	begun := time.Now()
	if err := q.check(); err != nil {
		return nil, err
	}
	load, err := c.Load(ctx)
	if err != nil {
		return nil, err
	}
	if err := q.complete(load); err != nil {
		return nil, err
	}
	options.From, options.To, options.Configuration, options.FromGates, options.ToGates = q.From, q.To, q.Configuration, q.FromGates, q.ToGates
	all := 0
	if err := load.Source(ctx, func(s Step) error {
		if s.Decide != nil {
			all++
		}
		return ctx.Err()
	}); err != nil {
		return nil, err
	}
	if progress != nil {
		options.Progress = func(p Progress) {
			p.Decisions = all
			progress(p)
		}
		options.Progress(Progress{})
	}
	report, err := Compare(ctx, load.Source, options)
	if err != nil {
		return nil, err
	}
	a := &Answer{
		APIVersion: APIVersion, Kind: Kind, Report: *report, NotJudged: load.NotJudged,
		Judged: Judged{Cluster: load.Cluster, At: metav1.NewTime(begun.UTC().Truncate(time.Second)), Seconds: time.Since(begun).Seconds()},
	}
	if n := report.OtherSchedulers; n > 0 {
		a.NotJudged = append(slices.Clip(a.NotJudged), fmt.Sprintf("%s: the configuration has no profile of the name that they ask for.", count(n, "decision")))
	}
	a.Sentence = a.sentence()
	return a, nil
}

// check finds what is wrong whatever the cluster is.
func (q *Question) check() error {
	for _, side := range q.sides() {
		if side.minor == "" {
			continue
		}
		if _, err := versions.Named(side.minor); err != nil {
			return &QuestionError{side.field, err.Error()}
		}
	}
	return nil
}

type side struct{ field, minor string }

// sides are both versions in the order in which mistakes are reported.
func (q *Question) sides() [2]side { return [2]side{{"from", q.From}, {"to", q.To}} }

// complete fills in what the cluster decides.
func (q *Question) complete(load *Load) error {
	if q.To == "" {
		q.To = versions.Own
	}
	minor, err := versions.MinorOf(load.Version)
	if err != nil && load.Version != "" && isNewer(load.Version) {
		return &QuestionError{"from", fmt.Sprintf("%s is of Kubernetes %s: its decisions cannot be made again, because the newest version here is %s", load.Cluster, load.Version, versions.Own)}
	}
	switch {
	case q.From != "":
	case err == nil:
		q.From = minor
	case load.Version != "":
		return &QuestionError{"from", fmt.Sprintf("%s is of Kubernetes %s, whose scheduler is not here: say from which of %s", load.Cluster, load.Version, strings.Join(versions.Minors(), ", "))}
	default:
		return &QuestionError{"from", fmt.Sprintf("%s does not tell its version: say from which of %s", load.Cluster, strings.Join(versions.Minors(), ", "))}
	}
	if err := q.differs(); err != nil {
		return err
	}
	if q.Configuration != "" {
		return nil
	}
	q.Configuration, err = own(load.Configuration)
	return err
}

func (q *Question) differs() error {
	if q.From == q.To && maps.Equal(q.FromGates, q.ToGates) {
		return &QuestionError{"to", fmt.Sprintf("from %s to %s with the same feature gates, no decision can change", q.From, q.To)}
	}
	return nil
}

// isNewer reports whether a version is later than all that there are.
func isNewer(version string) bool {
	var major, minor, newestMajor, newest int
	if _, err := fmt.Sscanf(strings.TrimPrefix(version, "v"), "%d.%d", &major, &minor); err != nil {
		return false
	}
	_, _ = fmt.Sscanf(versions.Own, "%d.%d", &newestMajor, &newest)
	return major > newestMajor || major == newestMajor && minor > newest
}

// own returns a cluster's configuration, and nothing for the default as this program writes it out: each version has its own.
func own(document []byte) (string, error) {
	if len(document) == 0 {
		return "", nil
	}
	c, err := config.Parse(document)
	if err != nil {
		return string(document), nil //nolint:nilerr // the versions judge it
	}
	standard, err := config.Default()
	if err != nil {
		return "", err
	}
	given, errGiven := c.JSON()
	written, errWritten := standard.JSON()
	if err := errors.Join(errGiven, errWritten); err != nil {
		return "", err
	}
	if string(given) == string(written) {
		return "", nil
	}
	return string(document), nil
}
