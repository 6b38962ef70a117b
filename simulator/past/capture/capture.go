// Package capture records a cluster that a kubeconfig reaches into a file: it checks the options,
// connects without the right to write, redacts on request, and reports progress in lines for
// people.
//
// Package replay does the recording itself. It may import the simulator's mirror, redact and replay
// packages.
package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"kube-scheduler-simulator/simulator/elsewhere/mirror"
	"kube-scheduler-simulator/simulator/elsewhere/redact"
	"kube-scheduler-simulator/simulator/host/kubeconfig"
	"kube-scheduler-simulator/simulator/past/replay"
)

// Options say what to record. Kubeconfig and Output are required.
type Options struct {
	// Kubeconfig reaches the cluster. Capture only reads it.
	Kubeconfig string
	// Context is one of the kubeconfig's contexts; its current one by default.
	Context string
	// Output is the new file of the recording.
	Output string
	// Namespaces restricts namespaced objects to these namespaces when it is not empty, and
	// Selector restricts pods.
	Namespaces []string
	Selector   string
	// Redact replaces every name that people have chosen.
	Redact bool
	// QPS bounds the requests per second; DefaultQPS by default.
	QPS float32
}

// DefaultQPS is a small load for a production cluster. After the first lists there are only
// watches.
const DefaultQPS = mirror.DefaultQPS

// Run records a cluster until ctx is done. It writes progress to messages, a line each; the last
// line is a summary.
func Run(ctx context.Context, o Options, messages io.Writer) (err error) {
	source, header, err := o.source(ctx)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(o.Output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists already; a recording is not written over", o.Output)
	}
	if err != nil {
		return fmt.Errorf("creating the recording: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	options := replay.RecorderOptions{
		Source: source, Out: file, Header: header,
		Note: func(message string) { fmt.Fprintln(messages, message) },
	}
	if o.Redact {
		redactor := redact.New(nil)
		options.Redact = func(u *unstructured.Unstructured) { redactor.Object(u) }
	}
	sum, err := replay.Record(ctx, options)
	if err != nil {
		if sum.Objects == 0 {
			err = errors.Join(err, os.Remove(o.Output))
		}
		return err
	}
	fmt.Fprintln(messages, summary(o.Output, sum))
	return nil
}

func (o Options) source(ctx context.Context) (replay.Source, replay.Header, error) {
	if _, err := labels.Parse(o.Selector); err != nil {
		return nil, replay.Header{}, fmt.Errorf("the selector for pods: %w", err)
	}
	config, name, err := kubeconfig.Load(o.Kubeconfig, o.Context)
	if err != nil {
		return nil, replay.Header{}, fmt.Errorf("reading the source's kubeconfig: %s: %w", o.Kubeconfig, err)
	}
	config.QPS = o.QPS
	if config.QPS <= 0 {
		config.QPS = DefaultQPS
	}
	config.Burst = int(2*config.QPS) + 1
	config.UserAgent = "kube-scheduler-simulator-record"
	version, err := mirror.ServerVersion(ctx, mirror.OnlyReading(config))
	if ctx.Err() != nil {
		return nil, replay.Header{}, errors.New("asking the source for its version: interrupted before it answered; nothing was recorded")
	}
	if err != nil {
		return nil, replay.Header{}, fmt.Errorf("asking the source for its version: %w", err)
	}
	header := replay.Header{SourceVersion: version, Redacted: o.Redact}
	if !o.Redact {
		header.Namespaces, header.Selector, header.Source = o.Namespaces, o.Selector, name
	}
	source, err := replay.NewSource(mirror.OnlyReading(config), o.Namespaces, o.Selector)
	return source, header, err
}

func summary(output string, sum replay.Recorded) string {
	text := fmt.Sprintf("recorded %s: %d objects, %d changes in %s, %d bytes", output, sum.Objects, sum.Changes, sum.Duration.Round(time.Second), sum.Bytes)
	if sum.Gaps > 0 {
		text += fmt.Sprintf(", %d gaps", sum.Gaps)
	}
	if len(sum.Missing) > 0 {
		text += "; the source does not show " + strings.Join(sum.Missing, ", ")
	}
	return text
}
