package kubecontrollers

import (
	"context"
	"fmt"
	"time"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/dynamic"
	schedulinginformers "k8s.io/client-go/informers/scheduling/v1beta1"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/replication"
	"k8s.io/kubernetes/pkg/controller/scheduling/podgroupprotection"
	"k8s.io/kubernetes/pkg/controller/statefulset"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
	"k8s.io/kubernetes/pkg/features"
	resourceclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"
	"k8s.io/metrics/pkg/client/custom_metrics"
	"k8s.io/metrics/pkg/client/external_metrics"
)

// The delays after which the DaemonSet controller replaces failed pods.
const (
	firstDaemonDelay = time.Second
	lastDaemonDelay  = 15 * time.Minute
)

func (b *Builder) daemonSet(ctx context.Context) (Run, error) {
	client, err := b.client("daemon-set-controller")
	if err != nil {
		return nil, err
	}
	apps, core := b.informers.Apps().V1(), b.informers.Core().V1()
	c, err := daemon.NewDaemonSetsController(ctx, apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(), core.Nodes(),
		client, flowcontrol.NewBackOff(firstDaemonDelay, lastDaemonDelay))
	if err != nil {
		return nil, err
	}
	return with(b.configuration.DaemonSetController.ConcurrentDaemonSetSyncs, c.Run), nil
}

func (b *Builder) statefulSet(ctx context.Context) (Run, error) {
	client, err := b.client("statefulset-controller")
	if err != nil {
		return nil, err
	}
	apps, core := b.informers.Apps().V1(), b.informers.Core().V1()
	c := statefulset.NewStatefulSetController(ctx, core.Pods(), apps.StatefulSets(), core.PersistentVolumeClaims(), apps.ControllerRevisions(), client)
	return with(b.configuration.StatefulSetController.ConcurrentStatefulSetSyncs, c.Run), nil
}

func (b *Builder) replicaSet(ctx context.Context) (Run, error) {
	client, err := b.client("replicaset-controller")
	if err != nil {
		return nil, err
	}
	c := replicaset.NewReplicaSetController(ctx, b.informers.Apps().V1().ReplicaSets(), b.informers.Core().V1().Pods(), client, replicaset.BurstReplicas)
	return with(b.configuration.ReplicaSetController.ConcurrentRSSyncs, c.Run), nil
}

func (b *Builder) replicationController(ctx context.Context) (Run, error) {
	client, err := b.client("replication-controller")
	if err != nil {
		return nil, err
	}
	core := b.informers.Core().V1()
	c := replication.NewReplicationManager(ctx, core.Pods(), core.ReplicationControllers(), client, replication.BurstReplicas)
	return with(b.configuration.ReplicationController.ConcurrentRCSyncs, c.Run), nil
}

func (b *Builder) deployment(ctx context.Context) (Run, error) {
	client, err := b.client("deployment-controller")
	if err != nil {
		return nil, err
	}
	apps := b.informers.Apps().V1()
	c, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), b.informers.Core().V1().Pods(), client)
	if err != nil {
		return nil, err
	}
	return with(b.configuration.DeploymentController.ConcurrentDeploymentSyncs, c.Run), nil
}

func (b *Builder) job(ctx context.Context) (Run, error) {
	client, err := b.client("job-controller")
	if err != nil {
		return nil, err
	}
	// Without the feature, the controller must not even see the informers.
	var workloads schedulinginformers.WorkloadInformer
	var groups schedulinginformers.PodGroupInformer
	if utilfeature.DefaultFeatureGate.Enabled(features.WorkloadWithJob) {
		workloads = b.informers.Scheduling().V1beta1().Workloads()
		groups = b.informers.Scheduling().V1beta1().PodGroups()
	}
	c, err := job.NewController(ctx, client, b.informers.Core().V1().Pods(), b.informers.Batch().V1().Jobs(), workloads, groups)
	if err != nil {
		return nil, err
	}
	return with(b.configuration.JobController.ConcurrentJobSyncs, c.Run), nil
}

func (b *Builder) cronJob(ctx context.Context) (Run, error) {
	client, err := b.client("cronjob-controller")
	if err != nil {
		return nil, err
	}
	batch := b.informers.Batch().V1()
	c, err := cronjob.NewControllerV2(ctx, batch.Jobs(), batch.CronJobs(), client)
	if err != nil {
		return nil, err
	}
	return with(b.configuration.CronJobController.ConcurrentCronJobSyncs, c.Run), nil
}

func (b *Builder) ttlAfterFinished(ctx context.Context) (Run, error) {
	client, err := b.client("ttl-after-finished-controller")
	if err != nil {
		return nil, err
	}
	c := ttlafterfinished.New(ctx, b.informers.Batch().V1().Jobs(), client)
	return with(b.configuration.TTLAfterFinishedController.ConcurrentTTLSyncs, c.Run), nil
}

func (b *Builder) disruption(ctx context.Context) (Run, error) {
	const name = "disruption-controller"
	client, err := b.client(name)
	if err != nil {
		return nil, err
	}
	config, err := b.config(name)
	if err != nil {
		return nil, err
	}
	scales, err := scale.NewForConfig(config, b.restMapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client.Discovery()))
	if err != nil {
		return nil, fmt.Errorf("make a scale client: %w", err)
	}
	apps, core := b.informers.Apps().V1(), b.informers.Core().V1()
	c := disruption.NewDisruptionController(ctx, core.Pods(), b.informers.Policy().V1().PodDisruptionBudgets(), core.ReplicationControllers(),
		apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(), client, b.restMapper, scales, client.Discovery())
	return with(b.configuration.DisruptionController.ConcurrentDisruptionSyncs, c.Run), nil
}

func (b *Builder) horizontalPodAutoscaler(ctx context.Context) (Run, error) {
	const name = "horizontal-pod-autoscaler"
	config, err := b.config(name)
	if err != nil {
		return nil, err
	}
	client, err := b.client(name)
	if err != nil {
		return nil, err
	}
	// The kind resolver caches, so discovery need not.
	scales, err := scale.NewForConfig(config, b.restMapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client.Discovery()))
	if err != nil {
		return nil, fmt.Errorf("make a scale client: %w", err)
	}
	resources, err := resourceclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client of resource metrics: %w", err)
	}
	external, err := external_metrics.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client of external metrics: %w", err)
	}
	versions := custom_metrics.NewAvailableAPIsGetter(client.Discovery())
	custom := custom_metrics.NewForConfig(config, b.restMapper, versions)
	hpa := b.configuration.HPAController
	c := podautoscaler.NewHorizontalController(ctx, client.CoreV1(), scales, client.AutoscalingV2(), b.restMapper,
		metrics.NewRESTMetricsClient(resources, custom, external),
		b.informers.Autoscaling().V2().HorizontalPodAutoscalers(), b.informers.Core().V1().Pods(),
		hpa.HorizontalPodAutoscalerSyncPeriod.Duration,
		hpa.HorizontalPodAutoscalerDownscaleStabilizationWindow.Duration,
		hpa.HorizontalPodAutoscalerTolerance,
		hpa.HorizontalPodAutoscalerCPUInitializationPeriod.Duration,
		hpa.HorizontalPodAutoscalerInitialReadinessDelay.Duration)
	return together(
		func(ctx context.Context) {
			custom_metrics.PeriodicallyInvalidate(versions, hpa.HorizontalPodAutoscalerSyncPeriod.Duration, ctx.Done())
		},
		with(hpa.ConcurrentHorizontalPodAutoscalerSyncs, c.Run),
	), nil
}

func (b *Builder) podGroupProtection(ctx context.Context) (Run, error) {
	client, err := b.client(names.PodGroupProtectionController)
	if err != nil {
		return nil, err
	}
	c, err := podgroupprotection.NewPodGroupProtectionController(klog.FromContext(ctx),
		b.informers.Scheduling().V1beta1().PodGroups(), b.informers.Core().V1().Pods(), client)
	if err != nil {
		return nil, err
	}
	return with(1, c.Run), nil
}
