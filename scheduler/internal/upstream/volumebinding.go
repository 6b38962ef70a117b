package upstream

import (
	"context"
	"fmt"
	"reflect"
	"time"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
)

// Wait calls done after every interval until it reports true or fails, or until the timeout, whose
// error is context.DeadlineExceeded.
type Wait func(ctx context.Context, pod *v1.Pod, interval, timeout time.Duration, done func() (bool, error)) error

// VolumeBinding makes plugin, which was built with these arguments, wait for volumes by wait.
// Kubernetes waits by the real clock.
func VolumeBinding(plugin fwk.Plugin, args runtime.Object, wait Wait) error {
	binding, isBinding := plugin.(*volumebinding.VolumeBinding)
	arguments, known := args.(*config.VolumeBindingArgs)
	if !isBinding || !known {
		return fmt.Errorf("plugin %s is a %T with arguments %T", plugin.Name(), plugin, args)
	}
	inner := reflect.ValueOf(binding.Binder)
	if inner.Type().String() != "*volumebinding.volumeBinder" {
		return fmt.Errorf("the binder of plugin %s is a %T", plugin.Name(), binding.Binder)
	}
	binding.Binder = &volumeBinder{binding.Binder, inner.UnsafePointer(), time.Duration(arguments.BindTimeoutSeconds) * time.Second, wait}
	return nil
}

type volumeBinder struct {
	volumebinding.SchedulerVolumeBinder
	inner   unsafe.Pointer
	timeout time.Duration
	wait    Wait
}

func (b *volumeBinder) BindPodVolumes(ctx context.Context, pod *v1.Pod, volumes *volumebinding.PodVolumes) error {
	claims := make([]*v1.PersistentVolumeClaim, 0, len(volumes.DynamicProvisions))
	for _, provision := range volumes.DynamicProvisions {
		claims = append(claims, provision.PVC)
	}
	if err := bindAPIUpdate(b.inner, ctx, pod, volumes.StaticBindings, claims); err != nil {
		return err
	}
	err := b.wait(ctx, pod, time.Second, b.timeout, func() (bool, error) {
		return checkBindings(b.inner, klog.FromContext(ctx), pod, volumes.StaticBindings, claims)
	})
	if err != nil {
		return fmt.Errorf("binding volumes: %w", err)
	}
	return nil
}

//go:linkname bindAPIUpdate k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding.(*volumeBinder).bindAPIUpdate
func bindAPIUpdate(unsafe.Pointer, context.Context, *v1.Pod, []*volumebinding.BindingInfo, []*v1.PersistentVolumeClaim) error

//go:linkname checkBindings k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding.(*volumeBinder).checkBindings
func checkBindings(unsafe.Pointer, klog.Logger, *v1.Pod, []*volumebinding.BindingInfo, []*v1.PersistentVolumeClaim) (bool, error)
