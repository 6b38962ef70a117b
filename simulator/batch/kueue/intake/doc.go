// Package intake is what the webhooks of Kueue do when objects are written, as an admission plugin of the
// API server: it suspends jobs and gates pods that name a queue, and refuses queues, flavors and
// workloads that Kueue would refuse. What schemas can express is in the CustomResourceDefinitions.
//
// It admits no workload; the controllers in package control do. While the cluster does not serve
// LocalQueues, the plugin changes nothing. It may import Kubernetes, Kueue's module and the packages conversion and jobs.
package intake
