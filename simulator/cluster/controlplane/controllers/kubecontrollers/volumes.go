package kubecontrollers

import (
	"context"

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/volume/ephemeral"
	"k8s.io/kubernetes/pkg/controller/volume/pvcprotection"
	"k8s.io/kubernetes/pkg/controller/volume/pvprotection"
	"k8s.io/kubernetes/pkg/controller/volume/vacprotection"
)

func (b *Builder) ephemeralVolume(ctx context.Context) (Run, error) {
	client, err := b.client("ephemeral-volume-controller")
	if err != nil {
		return nil, err
	}
	core := b.informers.Core().V1()
	c, err := ephemeral.NewController(ctx, client, core.Pods(), core.PersistentVolumeClaims())
	if err != nil {
		return nil, err
	}
	return with(b.configuration.EphemeralVolumeController.ConcurrentEphemeralVolumeSyncs, c.Run), nil
}

func (b *Builder) claimProtection(ctx context.Context) (Run, error) {
	client, err := b.client("pvc-protection-controller")
	if err != nil {
		return nil, err
	}
	core := b.informers.Core().V1()
	c, err := pvcprotection.NewPVCProtectionController(klog.FromContext(ctx), core.PersistentVolumeClaims(), core.Pods(), client)
	if err != nil {
		return nil, err
	}
	return with(1, c.Run), nil
}

func (b *Builder) volumeProtection(ctx context.Context) (Run, error) {
	client, err := b.client("pv-protection-controller")
	if err != nil {
		return nil, err
	}
	c, err := pvprotection.NewPVProtectionController(klog.FromContext(ctx), b.informers.Core().V1().PersistentVolumes(), client)
	if err != nil {
		return nil, err
	}
	return with(1, c.Run), nil
}

func (b *Builder) attributesClassProtection(ctx context.Context) (Run, error) {
	client, err := b.client("volumeattributesclass-protection-controller")
	if err != nil {
		return nil, err
	}
	core := b.informers.Core().V1()
	c, err := vacprotection.NewVACProtectionController(klog.FromContext(ctx), client,
		core.PersistentVolumeClaims(), core.PersistentVolumes(), b.informers.Storage().V1().VolumeAttributesClasses())
	if err != nil {
		return nil, err
	}
	return with(1, c.Run), nil
}
