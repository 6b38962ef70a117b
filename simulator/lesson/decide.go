package lesson

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/yamlsource"
)

// Decide asks an engine about a pod. It returns the pod with its defaults and its priority, as the
// engine saw it. The errors are those of the engine.
func Decide(ctx context.Context, engine *whatif.Engine, a *Asked) (*result.Cycle, *v1.Pod, error) {
	var given *v1.Pod
	if a.Manifest != nil {
		data, wrong := yamlsource.ToJSON(ctx, a.Manifest, yamlsource.Object)
		if wrong != nil {
			return nil, nil, fmt.Errorf("reading the pod %s: %w", a.Name, wrong)
		}
		o, err := runtime.Decode(scheme.Codecs.UniversalDeserializer(), data)
		if err != nil {
			return nil, nil, fmt.Errorf("reading the pod %s: %w", a.Name, err)
		}
		given = o.(*v1.Pod) // its reader has checked the kind
	}
	var cycle *result.Cycle
	var pod *v1.Pod
	err := engine.Try(ctx, nil, func(ctx context.Context, t *whatif.Trial) (err error) {
		if given != nil {
			pod, err = t.New(given)
		} else {
			pod, err = t.Pod(a.Namespace, a.Name)
		}
		if err == nil {
			cycle, err = t.Decide(ctx, pod, "")
		}
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("asking about the pod %s: %w", a.Name, err)
	}
	return cycle, pod, nil
}
