package virtualnode

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

func TestADeletedPodStaysForItsGracePeriod(t *testing.T) {
	ns := namespace(t, shared)
	pool(t, shared, ns, 1)
	pods := shared.client.CoreV1().Pods(ns)
	long, quick := int64(3), int64(60)
	tests := []struct {
		name    string
		grace   int64
		with    map[string]string
		atLeast time.Duration
		atMost  time.Duration
	}{
		{name: "whole-period", grace: long, atLeast: 2 * time.Second, atMost: 20 * time.Second},
		{name: "stops-early", grace: quick, with: map[string]string{objects.AnnotationShutdownDuration: "100ms"}, atMost: 20 * time.Second},
		{name: "never-longer", grace: 1, with: map[string]string{objects.AnnotationShutdownDuration: "1h"}, atMost: 20 * time.Second},
		{name: "nothing-said", grace: 30, atMost: 20 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			spec := podSpec(ns)
			spec.TerminationGracePeriodSeconds = &test.grace
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: test.name, Annotations: test.with}, Spec: spec}
			if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			clustertest.Eventually(t, "it runs", func(ctx context.Context) (bool, error) {
				got, err := pods.Get(ctx, test.name, metav1.GetOptions{})
				return err == nil && got.Status.Phase == corev1.PodRunning, err
			})
			begin := time.Now()
			if err := pods.Delete(t.Context(), test.name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			clustertest.Eventually(t, "it is gone", gone(func(ctx context.Context) error {
				_, err := pods.Get(ctx, test.name, metav1.GetOptions{})
				return err
			}))
			if took := time.Since(begin); took < test.atLeast || took > clustertest.Scale(test.atMost) {
				t.Errorf("it took %v; want from %v to %v", took, test.atLeast, clustertest.Scale(test.atMost))
			}
		})
	}
}

// owned is a Deployment. The garbage collector deletes its ReplicaSet and then the pods.
const owned = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      nodeSelector: {pool: %s}
      containers:
      - {name: web, image: example.com/shop}
`

func TestDependentsGoWithTheirOwner(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		t.Run(string(policy), func(t *testing.T) {
			ns := namespace(t, shared)
			pool(t, shared, ns, 1)
			apply(t, shared, ns, owned)
			nodeOfARunningPod(t, ns)
			deployments := shared.client.AppsV1().Deployments(ns)
			if err := deployments.Delete(t.Context(), "shop", metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
				t.Fatal(err)
			}
			if policy == metav1.DeletePropagationForeground {
				clustertest.Eventually(t, "the deployment is gone, after its pods", gone(func(ctx context.Context) error {
					_, err := deployments.Get(ctx, "shop", metav1.GetOptions{})
					return err
				}))
				if found, err := podsOf(t.Context(), shared, ns); err != nil || len(found) > 0 {
					t.Errorf("%d pods are left, %v", len(found), err)
				}
				return
			}
			if _, err := deployments.Get(t.Context(), "shop", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("the deployment: %v", err)
			}
			clustertest.Eventually(t, "the pods are gone", func(ctx context.Context) (bool, error) {
				found, err := podsOf(ctx, shared, ns)
				return len(found) == 0, err
			})
		})
	}
}

func TestANamespaceGoesWithEverythingInIt(t *testing.T) {
	ns := namespace(t, shared)
	pool(t, shared, ns, 1)
	apply(t, shared, ns, owned)
	apply(t, shared, ns, `
apiVersion: batch/v1
kind: Job
metadata: {name: long}
spec:
  template:
    metadata:
      annotations: {kube-scheduler-simulator.sigs.k8s.io/run-duration: 1h}
    spec:
      restartPolicy: Never
      nodeSelector: {pool: %s}
      containers:
      - {name: main, image: example.com/main}
`)
	clustertest.Eventually(t, "all run", func(ctx context.Context) (bool, error) {
		found, err := podsOf(ctx, shared, ns)
		for _, pod := range found {
			if pod.Status.Phase != corev1.PodRunning {
				return false, err
			}
		}
		return len(found) == 3, err
	})
	namespaces := shared.client.CoreV1().Namespaces()
	if err := namespaces.Delete(t.Context(), ns, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	clustertest.Eventually(t, "the namespace is gone", gone(func(ctx context.Context) error {
		_, err := namespaces.Get(ctx, ns, metav1.GetOptions{})
		return err
	}))
}
