package storedform

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"kube-scheduler-simulator/simulator/cluster/definitions"
)

// custom is how an API server creates and changes the objects of a kind that a
// CustomResourceDefinition of package definitions defines.
type custom struct {
	kind
	schema *structuralschema.Structural
}

// forControllers are the definitions that no scheduler or plugin reads.
var forControllers = []string{definitions.Kueue, definitions.JobSet, definitions.LeaderWorkerSet, definitions.AppWrapper, definitions.Karpenter}

// A scheduler or its plugins read customKinds.
var customKinds = func() map[schema.GroupKind]func() (*custom, error) {
	out := map[schema.GroupKind]func() (*custom, error){}
	for _, d := range definitions.All() {
		if !slices.Contains(forControllers, d.Plugin) {
			out[d.Kind.GroupKind()] = sync.OnceValues(func() (*custom, error) { return newCustom(d) })
		}
	}
	return out
}()

// The error of customKind is a *KindError for a kind that is not custom, or one of the definition.
func customKind(gvk schema.GroupVersionKind) (*custom, error) {
	load := customKinds[gvk.GroupKind()]
	if load == nil {
		return nil, &KindError{gvk}
	}
	return load()
}

func newCustom(d definitions.Definition) (c *custom, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("reading the schema of %s: %w", d.Name(), err)
		}
	}()
	manifest, err := d.Manifest()
	if err != nil {
		return nil, err
	}
	crd := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(manifest, crd, nil); err != nil {
		return nil, err
	}
	at := slices.IndexFunc(crd.Spec.Versions, func(v apiextensions.CustomResourceDefinitionVersion) bool { return v.Name == d.Kind.Version })
	if at < 0 {
		return nil, fmt.Errorf("it has no version %s", d.Kind.Version)
	}
	valid, err := apiextensions.GetSchemaForVersion(crd, d.Kind.Version)
	if err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(valid.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(valid.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	subresources, err := apiextensions.GetSubresourcesForVersion(crd, d.Kind.Version)
	if err != nil {
		return nil, err
	}
	var status *apiextensions.CustomResourceSubresourceStatus
	if subresources != nil {
		status = subresources.Status
	}
	s := customresource.NewStrategy(unstructuredscheme.NewUnstructuredObjectTyper(), crd.Spec.Scope == apiextensions.NamespaceScoped, d.Kind, validator, nil, structural, status, nil, nil)
	return &custom{kind{d.Kind.GroupVersion().WithResource(d.Resource), s}, structural}, nil
}

// decode reads an object and sets its defaults. Unless strictly, it drops the fields that the
// schema lacks.
func (c *custom) decode(data []byte, strictly bool) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	twice, err := kjson.UnmarshalStrict(data, &u.Object, kjson.DisallowDuplicateFields)
	if err != nil {
		return nil, fmt.Errorf("decoding: %w", err)
	}
	if gv := u.GroupVersionKind().GroupVersion(); gv != c.resource.GroupVersion() {
		return nil, fmt.Errorf("the scheduler reads %s of %s, not of %s", u.GetKind(), c.resource.GroupVersion(), gv)
	}
	unknown := pruning.PruneWithOptions(u.Object, c.schema, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: strictly})
	if strictly {
		var mistakes []string
		for _, err := range twice {
			mistakes = append(mistakes, err.Error())
		}
		for _, field := range unknown {
			mistakes = append(mistakes, fmt.Sprintf("unknown field %q", field))
		}
		if len(mistakes) > 0 {
			return nil, errors.New(strings.Join(mistakes, ", "))
		}
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, c.schema)
	defaulting.Default(u.Object, c.schema)
	return u, nil
}

func decodeCustom(data []byte, gvk schema.GroupVersionKind, strictly bool) (runtime.Object, error) {
	c, err := customKind(gvk)
	if err != nil {
		return nil, err
	}
	u, err := c.decode(data, strictly)
	if err != nil {
		return nil, err
	}
	return u, c.setNamespace(u)
}
