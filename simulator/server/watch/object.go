package watch

import (
	"bytes"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// object is a Kubernetes object as readers get it: JSON without managed fields and without our
// annotations, which may take 64 kB on each pod and only repeat the results API. It is immutable.
//
// The hub never decodes it. It scans the API server's JSON once and leaves the unwanted members
// out, because under load it handles hundreds of annotated pods per second on the cores that the
// scheduler needs.
type object struct {
	namespace, name, uid, resourceVersion string
	// listed marks the bookmark that ends the initial objects of a watch.
	listed bool
	json   []byte
}

// key orders objects by namespace, then name.
func (o *object) key() string { return o.namespace + "/" + o.name }

// version differs between all states of all objects that share a key.
func (o *object) version() string { return o.uid + "/" + o.resourceVersion }

func (o *object) GetObjectMeta() metav1.Object {
	m := &metav1.ObjectMeta{Namespace: o.namespace, Name: o.name, ResourceVersion: o.resourceVersion}
	if o.listed {
		m.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	}
	return m
}

func (o *object) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

func (o *object) DeepCopyObject() runtime.Object { return o }

var (
	_ runtime.Object            = (*object)(nil)
	_ metav1.ObjectMetaAccessor = (*object)(nil)
)

var errNotAnObject = errors.New("not a JSON object with metadata")

// The items of a list lack a kind and get the given one. parseObject does not keep data.
func parseObject(data []byte, kind metav1.TypeMeta) (*object, error) {
	s := scanner{data: data}
	o, err := scanObject(&s, kind)
	if err == nil && !s.atEnd() {
		err = errJSON
	}
	return o, err
}

func scanObject(s *scanner, kind metav1.TypeMeta) (*object, error) {
	p := objectScanner{scanner: s}
	if err := p.object(); err != nil {
		return nil, errors.Join(errNotAnObject, err)
	}
	if !p.hasMetadata {
		return nil, errNotAnObject
	}
	o := p.o // copied: a pointer into p would keep its buffers alive
	if p.hasKind || kind.Kind == "" {
		o.json = bytes.Clone(p.out)
		return &o, nil
	}
	// It has metadata, so p.out is not empty and the comma is right.
	o.json = fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,%s`, kind.Kind, kind.APIVersion, p.out[1:])
	return &o, nil
}

// objectScanner copies an object to out while scanning it, except for the members that readers do
// not get.
type objectScanner struct {
	*scanner
	o                    object
	out                  []byte
	hasKind, hasMetadata bool
}

func (p *objectScanner) object() error {
	p.out = append(make([]byte, 0, 4<<10), '{')
	err := p.members(func(name []byte) error {
		switch string(name) {
		case `"metadata"`:
			p.hasMetadata = true
			p.startMember(name)
			return p.metadata()
		case `"kind"`:
			p.hasKind = true
		}
		return p.keep(name)
	})
	p.out = append(p.out, '}')
	return err
}

func (p *objectScanner) metadata() error {
	p.out = append(p.out, '{')
	err := p.members(func(name []byte) error {
		var to *string
		switch string(name) {
		case `"managedFields"`:
			_, err := p.value()
			return err
		case `"annotations"`:
			return p.annotations(name)
		case `"name"`:
			to = &p.o.name
		case `"namespace"`:
			to = &p.o.namespace
		case `"uid"`:
			to = &p.o.uid
		case `"resourceVersion"`:
			to = &p.o.resourceVersion
		default:
			return p.keep(name)
		}
		return p.note(name, to)
	})
	p.out = append(p.out, '}')
	return err
}

// annotations leaves out our annotations, and the whole member when none remains.
func (p *objectScanner) annotations(name []byte) error {
	if p.take('n') { // null
		_, err := p.value()
		return err
	}
	before := len(p.out)
	p.startMember(name)
	p.out = append(p.out, '{')
	empty := len(p.out)
	err := p.members(func(name []byte) error {
		if bytes.HasPrefix(name[1:], []byte(objects.Prefix)) {
			_, err := p.value()
			return err
		}
		if string(name) == `"`+metav1.InitialEventsAnnotationKey+`"` {
			var v string
			err := p.note(name, &v)
			p.o.listed = v == "true"
			return err
		}
		return p.keep(name)
	})
	if len(p.out) == empty {
		p.out = p.out[:before]
		return err
	}
	p.out = append(p.out, '}')
	return err
}

func (p *objectScanner) keep(name []byte) error {
	v, err := p.value()
	p.startMember(name)
	p.out = append(p.out, v...)
	return err
}

// note copies a member and stores its text.
func (p *objectScanner) note(name []byte, to *string) error {
	start := p.i
	text, err := p.text()
	*to = text
	if err == nil {
		p.startMember(name)
		p.out = append(p.out, p.data[start:p.i]...)
	}
	return err
}

// startMember copies the name of a member; the caller copies the value.
func (p *objectScanner) startMember(name []byte) {
	if p.out[len(p.out)-1] != '{' {
		p.out = append(p.out, ',')
	}
	p.out = append(p.out, name...)
	p.out = append(p.out, ':')
}
