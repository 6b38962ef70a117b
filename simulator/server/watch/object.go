package watch

import (
	"bytes"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ownAnnotations begin with this. They may hold 64 kB on each pod, and the
// same is to be had of the results.
const ownAnnotations = "kube-scheduler-simulator.sigs.k8s.io/"

// object is a Kubernetes object as readers get it: JSON, without managed
// fields and our annotations. It is immutable.
//
// It is never decoded. The API server's JSON is scanned once and what is not
// wanted is left out, because under load hundreds of pods with annotations
// pass here per second, on the cores that the scheduler runs on.
type object struct {
	namespace, name, uid, resourceVersion string
	// listed: a watch has come to the end of the objects that there were.
	listed bool
	json   []byte
}

// key orders objects by namespace, then name.
func (o *object) key() string { return o.namespace + "/" + o.name }

// version differs between any two states of any two objects of one key.
func (o *object) version() string { return o.uid + "/" + o.resourceVersion }

// GetObjectMeta lets the reflector see what it needs.
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

// parseObject reads what the API server sent. Items of a list have no kind of
// their own: they get the given one. data is not kept.
func parseObject(data []byte, kind metav1.TypeMeta) (*object, error) {
	s := scanner{data: data}
	o, err := scanObject(&s, kind)
	if err == nil && !s.atEnd() {
		err = errJSON
	}
	return o, err
}

// scanObject reads the object that begins at s.
func scanObject(s *scanner, kind metav1.TypeMeta) (*object, error) {
	p := objectScanner{scanner: s}
	if err := p.object(); err != nil {
		return nil, errors.Join(errNotAnObject, err)
	}
	if !p.hasMetadata {
		return nil, errNotAnObject
	}
	o := p.o // alone: a pointer into p would keep what was read, and where it was copied to
	if p.hasKind || kind.Kind == "" {
		o.json = bytes.Clone(p.out)
		return &o, nil
	}
	// It has metadata, so something follows.
	o.json = fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,%s`, kind.Kind, kind.APIVersion, p.out[1:])
	return &o, nil
}

// objectScanner copies an object to out as it goes, except what is left out.
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
			p.begin(name)
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

// annotations leaves the member out when none of it is kept.
func (p *objectScanner) annotations(name []byte) error {
	if p.take('n') { // null
		_, err := p.value()
		return err
	}
	before := len(p.out)
	p.begin(name)
	p.out = append(p.out, '{')
	empty := len(p.out)
	err := p.members(func(name []byte) error {
		if bytes.HasPrefix(name[1:], []byte(ownAnnotations)) {
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

// keep copies a member.
func (p *objectScanner) keep(name []byte) error {
	v, err := p.value()
	p.begin(name)
	p.out = append(p.out, v...)
	return err
}

// note copies a member and its text.
func (p *objectScanner) note(name []byte, to *string) error {
	start := p.i
	text, err := p.text()
	*to = text
	if err == nil {
		p.begin(name)
		p.out = append(p.out, p.data[start:p.i]...)
	}
	return err
}

// begin copies the name of a member whose value follows.
func (p *objectScanner) begin(name []byte) {
	if p.out[len(p.out)-1] != '{' {
		p.out = append(p.out, ',')
	}
	p.out = append(p.out, name...)
	p.out = append(p.out, ':')
}
