package fanout

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"kube-scheduler-simulator/simulator/command/runner"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// checkpoint is how often a pod keeps what it has done, at least. A pod that is killed loses no more than this.
const checkpoint = 10 * time.Second

// lastWords is how long a pod that is asked to stop may take to keep what it has done.
const lastWords = graceSeconds * time.Second / 2

// HopelessError means that another attempt would fail, too.
type HopelessError struct{ Err error }

func (e *HopelessError) Error() string { return e.Err.Error() }

func (e *HopelessError) Unwrap() error { return e.Err }

// Share does the share of a sweep that its pod is for. dir is where the pod's volume is mounted, and getenv reads its environment. The
// error is a *HopelessError if another attempt would end in the same way.
func Share(ctx context.Context, dir string, getenv func(string) string, o runner.Options) error {
	b, err := unpack(dir)
	if err != nil {
		return &HopelessError{err}
	}
	index, err := strconv.Atoi(getenv(envIndex))
	if err != nil {
		return &HopelessError{fmt.Errorf("%s is %q, not the index of a share: simulator sweep --kubernetes makes the Job that sets it", envIndex, getenv(envIndex))}
	}
	numbers, err := b.share(index)
	if err != nil {
		return &HopelessError{err}
	}
	l, err := scenario.LoadSweep(ctx, b.text, scenario.Options{File: b.File, Read: b.read, Parse: o.Parse}, b.Seeds)
	if err != nil {
		return &HopelessError{err}
	}
	client, err := kubernetes.NewForConfig(credentials(dir, getenv))
	if err != nil {
		return &HopelessError{fmt.Errorf("using the pod's credentials: %w", err)}
	}
	kept := &results{configMaps: client.CoreV1().ConfigMaps(getenv(envNamespace)), job: owner{getenv(envJob), types.UID(getenv(envJobUID))}, index: index}
	if err := doShare(ctx, l, numbers, kept, o); err != nil {
		if apierrors.IsForbidden(err) || errors.As(err, new(*runner.FileError)) {
			return &HopelessError{err}
		}
		return err
	}
	return nil
}

// credentials are those of the pod's ServiceAccount.
func credentials(dir string, getenv func(string) string) *rest.Config {
	return &rest.Config{
		Host:            "https://" + net.JoinHostPort(getenv("KUBERNETES_SERVICE_HOST"), getenv("KUBERNETES_SERVICE_PORT")),
		BearerTokenFile: filepath.Join(dir, tokenFile),
		TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(dir, caFile)},
	}
}

// doShare does those runs that no pod of the share has kept yet.
func doShare(ctx context.Context, l *scenario.Sweep, numbers []int, kept *results, o runner.Options) error {
	err := retry.OnError(saving, func(err error) bool { return ctx.Err() == nil && isTransient(err) }, func() error { return kept.load(ctx) })
	if err != nil {
		return err
	}
	// An empty result shows that the pod has the right to write, before it computes.
	if err := kept.save(ctx, nil); err != nil {
		return err
	}
	var todo []int
	for _, number := range numbers {
		point, seed := l.RunOf(number)
		if !kept.kept[runID{point, seed}] {
			todo = append(todo, number)
		}
	}
	var done []scenario.RunOutcome
	saved := o.Now()
	runErr := runner.RunPart(ctx, l, todo, o, func(r scenario.RunOutcome) error {
		done = append(done, r)
		if o.Now().Sub(saved) < checkpoint {
			return nil
		}
		if err := kept.save(ctx, done); err != nil {
			return err
		}
		done, saved = nil, o.Now()
		return nil
	})
	last := ctx
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		last, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer cancel()
	}
	if err := errors.Join(runErr, kept.save(last, done)); err != nil {
		return fmt.Errorf("share %d: %w", kept.index, err)
	}
	return nil
}
