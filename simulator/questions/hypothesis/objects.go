package hypothesis

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
)

// EachObject calls do with each object of documents, of which one in YAML may hold several. field is the path of the documents in the
// question, and want completes "it is a scheduler configuration, and no …". The error is a *Refused with all that is wrong: what cannot
// be read, and what do says of objects.
func EachObject(ctx context.Context, field string, documents []Document, want string, do func(*unstructured.Unstructured) error) error {
	var wrong []string
	for i, document := range documents {
		name := fmt.Sprintf("%s[%d]", field, i)
		source := manifest.NewSource(manifest.Part{Name: name, Content: bytes.NewReader(document), Size: int64(len(document))})
		err := manifest.Read(ctx, source, manifest.Content{
			Object: func(o *manifest.Object) error {
				u, err := o.Unstructured()
				if err != nil {
					return err
				}
				if err := do(u); err != nil {
					wrong = append(wrong, fmt.Sprintf("%s %s: %v", u.GetKind(), u.GetName(), err))
				}
				return nil
			},
			Configuration: func(string, []byte) { wrong = append(wrong, name+": it is a scheduler configuration, and no "+want) },
			Unreadable:    func(at, message string) { wrong = append(wrong, at+": "+message) },
		})
		if err != nil {
			return &Refused{Message: fmt.Sprintf("%s: %v", name, err)}
		}
	}
	if len(wrong) > 0 {
		return &Refused{Message: strings.Join(wrong, "; ")}
	}
	return nil
}
