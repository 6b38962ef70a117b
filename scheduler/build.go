package scheduler

import (
	"context"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// builder has what a scheduler is built from.
type builder struct {
	client           kubernetes.Interface
	clientConfig     *rest.Config
	informers        informers.SharedInformerFactory
	dynamicInformers dynamicinformer.DynamicSharedInformerFactory
	events           func(name string) events.EventRecorderLogger
	configuration    *config.KubeSchedulerConfiguration
	outOfTree        frameworkruntime.Registry
	own              *ownUpdates // of the recorded scheduler
	known            *known      // of the recorded scheduler
	tieSeed          *int64
}

// options are those of cmd/kube-scheduler/app.Setup.
func (b *builder) options() []upstream.Option {
	c := b.configuration
	return []upstream.Option{
		upstream.WithComponentConfigVersion(c.APIVersion),
		upstream.WithKubeConfig(b.clientConfig),
		upstream.WithPercentageOfNodesToScore(c.PercentageOfNodesToScore),
		upstream.WithPodMaxBackoffSeconds(c.PodMaxBackoffSeconds),
		upstream.WithPodInitialBackoffSeconds(c.PodInitialBackoffSeconds),
		upstream.WithPodMaxInUnschedulablePodsDuration(internalqueue.DefaultPodMaxInUnschedulablePodsDuration),
		upstream.WithExtenders(c.Extenders...),
		upstream.WithParallelism(c.Parallelism),
	}
}

// bare builds the scheduler as cmd/kube-scheduler does.
func (b *builder) bare(ctx context.Context) (*upstream.Scheduler, error) {
	sched, err := upstream.New(ctx, b.client, b.informers, b.dynamicInformers, b.events, append(b.options(),
		upstream.WithProfiles(b.configuration.Profiles...),
		upstream.WithFrameworkOutOfTreeRegistry(b.outOfTree))...)
	if err == nil && b.tieSeed != nil {
		seedTies(sched, *b.tieSeed)
	}
	return sched, err
}
