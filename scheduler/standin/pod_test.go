package standin

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestExitCode(t *testing.T) {
	tests := []struct {
		annotation, index string
		want              int32
		wrong             bool
	}{
		{annotation: "", want: 0},
		{annotation: "42", want: 42},
		{annotation: "1=42, 3=1", index: "3", want: 1},
		{annotation: "1=42", index: "0", want: 0},
		{annotation: "256", wrong: true},
		{annotation: "often", wrong: true},
	}
	for _, test := range tests {
		t.Run(test.annotation+" of "+test.index, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
				AnnotationExitCode: test.annotation, "batch.kubernetes.io/job-completion-index": test.index,
			}}}
			got, err := exitCode(pod)
			if got != test.want || (err != nil) != test.wrong {
				t.Errorf("%d, %v; want %d", got, err, test.want)
			}
		})
	}
}
