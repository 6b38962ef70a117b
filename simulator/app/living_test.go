package app

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// TestADeploymentRuns on nodes whose author said little: controllers make its
// pods, the scheduler places them, and virtual nodes run them.
func TestADeploymentRuns(t *testing.T) {
	s, err := startInProcess(DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
	for range 2 {
		if _, err := s.makeNode(t.Context(), "living", 4, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	template := pod("", "living", "1")
	template.Labels = map[string]string{"app": "web"}
	deployments := s.client.AppsV1().Deployments("default")
	_, err = deployments.Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](3),
			Selector: &metav1.LabelSelector{MatchLabels: template.Labels},
			Template: v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: template.Labels}, Spec: template.Spec},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the deployment is available", func(ctx context.Context) (bool, error) {
		d, err := deployments.Get(ctx, "web", metav1.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == 3, err
	})
}
