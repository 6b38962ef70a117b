package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"kube-scheduler-simulator/scheduler/annotation"
	"kube-scheduler-simulator/simulator/host/datadir"
)

// annotate first collects the results that waited when the simulator last stopped. write starts to
// write them.
func (s *simulator) annotate() (write func(), err error) {
	if s.options.AnnotationBytes == 0 {
		return func() {}, nil
	}
	client, err := kubernetes.NewForConfig(s.controlPlane.ClientConfig())
	if err != nil {
		return nil, fmt.Errorf("creating the annotation writer's client: %w", err)
	}
	w := annotation.NewWriter(client, s.store, s.options.AnnotationBytes, clock.RealClock{}, s.cachedPod)
	if err := s.resumeAnnotations(w); err != nil {
		return nil, err
	}
	s.annotations = w
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), s.options.Logger))
	var running sync.WaitGroup
	unsubscribe := s.store.Subscribe(w.Note)
	s.onStopOf("writing annotations", 0, func(ctx context.Context) error {
		unsubscribe()
		cancel()
		if err := within(ctx, running.Wait); err != nil {
			return err
		}
		return s.leaveAnnotations(w)
	})
	return func() { running.Go(func() { w.Run(ctx) }) }, nil
}

// A reset replaces the informers.
func (s *simulator) cachedPod(namespace, name string) *v1.Pod {
	if s.embedded == nil {
		return nil
	}
	pod, err := s.embedded.Informers().Core().V1().Pods().Lister().Pods(namespace).Get(name)
	if err != nil {
		return nil // the writer asks the API server
	}
	return pod
}

// annotationsLeft is a file with the attempts that wait to be written to annotations. It exists
// only while the simulator does not run.
func (s *simulator) annotationsLeft() string {
	return filepath.Join(s.prepared.dataDir, "annotations-left.json")
}

func (s *simulator) resumeAnnotations(w *annotation.Writer) error {
	document, err := os.ReadFile(s.annotationsLeft())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var left []annotation.Attempt
	if err == nil {
		err = json.Unmarshal(document, &left)
	}
	if err != nil {
		// Annotations are only copies of the results, and later attempts replace them.
		s.options.Logger.Error(err, "Cannot read which annotations were left to write")
	}
	w.Resume(left)
	if err := datadir.Remove(s.annotationsLeft()); err != nil {
		return fmt.Errorf("resuming the annotations: %w", err)
	}
	return nil
}

func (s *simulator) leaveAnnotations(w *annotation.Writer) error {
	left := w.Left()
	if s.prepared.temporary || len(left) == 0 {
		return nil
	}
	document, err := json.Marshal(left)
	if err == nil {
		err = datadir.WriteFile(s.annotationsLeft(), document)
	}
	if err != nil {
		return fmt.Errorf("keeping the annotations that are left to write: %w", err)
	}
	return nil
}
