package controlplane

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/apis/policy"
)

// UserWrite is a request by which a user, not the scheduler or a controller, changed objects.
type UserWrite struct {
	Begun time.Time
	// Verb is create, update, patch, apply, delete, scale or evict.
	Verb      string
	UserAgent string
	// Action is the same for all requests of one action of the user; empty if the client does not
	// tell. ActionVerb is what the user did: drain, for example. It is empty if Verb says it.
	Action, ActionVerb string
	// Objects were admitted, and need not all have been written.
	Objects []UserObject
}

type UserObject struct {
	Group, Resource, Namespace, Name string
	// After is the revision of etcd when the object was admitted, before it was written; 0 for an etcd that is not ours. An
	// update whose object another writer changed since then is admitted again.
	After int64
}

// Users have the kubeconfig, with its certificate, or the web server makes requests for them with
// UserClientConfig. Everyone else in this process uses the API server's own token.

// The value has no meaning.
const userHeader = "Kube-Scheduler-Simulator-User"

// actionHeader is VERB/ID in requests of the web application. kubectl has headers of its own; see
// CommandHeaderRoundTripper in k8s.io/cli-runtime/pkg/genericclioptions.
const (
	actionHeader         = "Kube-Scheduler-Simulator-Action"
	kubectlCommandHeader = "Kubectl-Command"
	kubectlSessionHeader = "Kubectl-Session"
)

// actionVerbs are those that say more than the verbs of their requests.
var actionVerbs = map[string]bool{
	"apply": true, "cordon": true, "drain": true, "evict": true, "label": true, "recreate": true, "restart": true, "taint": true, "uncordon": true,
}

func actionOf(h http.Header) (id, verb string) {
	verb, id, _ = strings.Cut(h.Get(actionHeader), "/")
	if session := h.Get(kubectlSessionHeader); id == "" && session != "" {
		command := h.Get(kubectlCommandHeader) // such as kubectl rollout restart
		id, verb = session, command[strings.LastIndexByte(command, ' ')+1:]
	}
	if !actionVerbs[verb] {
		verb = ""
	}
	return id, verb
}

// UserClientConfig is ClientConfig for requests that users make.
func (c *ControlPlane) UserClientConfig() *rest.Config {
	config := c.ClientConfig()
	if config != nil {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return forUser{next} })
	}
	return config
}

type forUser struct{ http.RoundTripper }

func (f forUser) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(userHeader, "1")
	return f.RoundTripper.RoundTrip(r)
}

// WrappedRoundTripper lets the API server's client close idle connections.
func (f forUser) WrappedRoundTripper() http.RoundTripper { return f.RoundTripper }

func isUser(r *http.Request) bool {
	return r.Header.Get(userHeader) != "" || r.TLS != nil && len(r.TLS.PeerCertificates) > 0
}

// pendingWrite is in the context of a user's request.
type pendingWrite struct {
	revision func() int64

	mu    sync.Mutex
	write UserWrite
}

type pendingWriteKey struct{}

func noteUserWrites(wrote func(UserWrite), revision func() int64, next http.Handler) http.Handler {
	if wrote == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isWrite(r) || !isUser(r) {
			next.ServeHTTP(w, r)
			return
		}
		pending := &pendingWrite{revision: revision, write: UserWrite{Begun: time.Now(), UserAgent: r.UserAgent()}}
		pending.write.Action, pending.write.ActionVerb = actionOf(r.Header)
		isApply := r.Header.Get("Content-Type") == string(types.ApplyYAMLPatchType)
		if r.Method == http.MethodPatch {
			pending.write.Verb = "patch"
		}
		if isApply || strings.Contains(r.URL.Query().Get("fieldManager"), "client-side-apply") {
			pending.write.Verb = "apply"
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), pendingWriteKey{}, pending)))
		pending.mu.Lock()
		defer pending.mu.Unlock()
		if len(pending.write.Objects) > 0 {
			wrote(pending.write)
		}
	})
}

// userWritesPlugin notes which objects a user's request writes: only admission knows generated
// names, and each object of a collection. It refuses nothing.
const userWritesPlugin = "UserWrites"

type userWrites struct{}

var _ admission.ValidationInterface = userWrites{}

func (userWrites) Handles(operation admission.Operation) bool { return operation != admission.Connect }

func (userWrites) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	pending, _ := ctx.Value(pendingWriteKey{}).(*pendingWrite)
	if pending == nil || a.IsDryRun() {
		return nil
	}
	verb := map[admission.Operation]string{admission.Create: "create", admission.Update: "update", admission.Delete: "delete"}[a.GetOperation()]
	switch a.GetSubresource() {
	case "":
	case "scale":
		verb = "scale"
	case "eviction":
		// kubectl drain asks for a dry run here, and not in the query.
		if e, ok := a.GetObject().(*policy.Eviction); ok && e.DeleteOptions != nil && len(e.DeleteOptions.DryRun) > 0 {
			return nil
		}
		verb = "evict"
	default: // of the scheduler and of kubelets
		return nil
	}
	name := a.GetName()
	if old, ok := a.GetOldObject().(metav1.ObjectMetaAccessor); ok && name == "" { // one of a collection that is deleted
		name = old.GetObjectMeta().GetName()
	}
	if name == "" {
		return nil
	}
	resource, namespace := a.GetResource(), a.GetNamespace()
	if resource.Group == "" && resource.Resource == "namespaces" {
		namespace = "" // a request for a namespace says that it is in itself; see RequestInfoFactory in k8s.io/apiserver
	}
	pending.mu.Lock()
	defer pending.mu.Unlock()
	if w := &pending.write; w.Verb == "" || verb == "scale" || verb == "evict" || verb == "create" && w.Verb == "patch" {
		w.Verb = verb
	}
	o := UserObject{Group: resource.Group, Resource: resource.Resource, Namespace: namespace, Name: name}
	known := slices.IndexFunc(pending.write.Objects, func(k UserObject) bool { k.After = 0; return k == o })
	o.After = pending.revision()
	switch {
	case known < 0:
		pending.write.Objects = append(pending.write.Objects, o)
	case a.GetOperation() != admission.Delete: // a deletion first marks the object, and then is admitted again
		pending.write.Objects[known] = o
	}
	return nil
}

// It comes after those that may refuse a request.
func addUserWrites(o *options.ServerRunOptions) {
	generic := o.Admission.GenericAdmission
	generic.Plugins.Register(userWritesPlugin, func(io.Reader) (admission.Interface, error) { return userWrites{}, nil })
	generic.RecommendedPluginOrder = append(generic.RecommendedPluginOrder[:len(generic.RecommendedPluginOrder):len(generic.RecommendedPluginOrder)], userWritesPlugin)
}
