package transfer

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
)

// betaAnnotation is the older name of objects.IsDefaultClass.
const betaAnnotation = "storageclass.beta.kubernetes.io/is-default-class"

// isOwnDefault reports whether a StorageClass is the simulator's own default, unchanged.
func isOwnDefault(u *unstructured.Unstructured) bool {
	expands, _, _ := unstructured.NestedBool(u.Object, "allowVolumeExpansion")
	return isOwnClass(u) && isDefaultClass(u) && expands && len(u.GetAnnotations()) == 1 && len(u.GetLabels()) == 0
}

func isOwnClass(u *unstructured.Unstructured) bool {
	provisioner, _, _ := unstructured.NestedString(u.Object, "provisioner")
	return u.GetName() == objects.DefaultStorageClass && provisioner == objects.DefaultProvisioner
}

func isDefaultClass(u *unstructured.Unstructured) bool {
	annotations := u.GetAnnotations()
	return annotations[objects.IsDefaultClass] == "true" || annotations[betaAnnotation] == "true"
}

// giveWay makes room for the classes of the input: it deletes the simulator's default StorageClass
// when the input has one of its name, as most of a class cannot be changed, and makes it no default
// when the input has another default. An error here shows again when the input's class is created.
func (i *importer) giveWay(ctx context.Context, classes []*manifest.Object) {
	var same, other bool
	for _, o := range classes {
		if o.GVK.GroupKind() != objects.StorageClass {
			continue
		}
		u, err := o.Unstructured()
		if err != nil || isOwnClass(u) {
			continue
		}
		same = same || o.Name == objects.DefaultStorageClass
		other = other || isDefaultClass(u)
	}
	if !same && !other {
		return
	}
	r, err := i.client.resourceFor(objects.StorageClass.WithVersion("v1"))
	if err != nil {
		return
	}
	data, err := i.client.get(ctx, r, "", objects.DefaultStorageClass)
	ours := &unstructured.Unstructured{}
	if err != nil || utiljson.Unmarshal(data, &ours.Object) != nil || !isOwnClass(ours) {
		return
	}
	if same {
		err = i.client.delete(ctx, r, objects.DefaultStorageClass, ours.GetUID())
	} else {
		_, err = i.client.patch(ctx, r, "", objects.DefaultStorageClass, map[string]any{
			"metadata": map[string]any{"uid": ours.GetUID(), "annotations": map[string]any{objects.IsDefaultClass: "false"}},
		})
	}
	if err != nil && !apierrors.IsNotFound(err) {
		i.rec.warn(Item{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass", Name: objects.DefaultStorageClass, Message: "the cluster's own StorageClass is still a default, too: " + err.Error()})
	}
}

func (c *client) delete(ctx context.Context, r resource, name string, uid types.UID) error {
	body, err := json.Marshal(metav1.NewPreconditionDeleteOptions(string(uid)))
	if err != nil {
		return err
	}
	return c.rest.Delete().AbsPath(r.path("", name)...).SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body).Do(ctx).Error()
}

// keepClassless keeps a bound claim without a class as it is: admission would give it the default
// class, which its volume does not have.
func keepClassless(claim *unstructured.Unstructured) {
	volume, _, _ := unstructured.NestedString(claim.Object, "spec", "volumeName")
	_, named, _ := unstructured.NestedFieldNoCopy(claim.Object, "spec", "storageClassName")
	if volume != "" && !named && claim.GetAnnotations()["volume.beta.kubernetes.io/storage-class"] == "" {
		_ = unstructured.SetNestedField(claim.Object, "", "spec", "storageClassName") // volumeName is in the same spec
	}
}
