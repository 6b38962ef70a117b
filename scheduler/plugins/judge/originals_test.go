package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	originalconfig "sigs.k8s.io/scheduler-plugins/apis/config"
	configv1 "sigs.k8s.io/scheduler-plugins/apis/config/v1"
	"sigs.k8s.io/scheduler-plugins/pkg/capacityscheduling"
	"sigs.k8s.io/scheduler-plugins/pkg/coscheduling"
	"sigs.k8s.io/scheduler-plugins/pkg/noderesourcetopology"

	"kube-scheduler-simulator/scheduler/schedulertest"
)

func TestMain(m *testing.M) {
	metrics.Register()
	klog.SetLogger(logr.Discard())
	ctrllog.SetLogger(logr.Discard())
	schedulertest.Prepare()
	os.Exit(m.Run())
}

// originals returns the original plugins' factories by name. They take arguments as they are in a
// configuration.
func originals() frameworkruntime.Registry {
	return frameworkruntime.Registry{
		capacityscheduling.Name:   decoding(capacityscheduling.New, nil),
		coscheduling.Name:         decoding(coscheduling.New, func() runtime.Object { return &configv1.CoschedulingArgs{} }),
		noderesourcetopology.Name: decoding(noderesourcetopology.New, func() runtime.Object { return &configv1.NodeResourceTopologyMatchArgs{} }),
	}
}

// arguments are the original's, which the scheme of kube-scheduler cannot have beside ours.
var arguments = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(originalconfig.AddToScheme(scheme))
	utilruntime.Must(configv1.AddToScheme(scheme))
	return scheme
}()

// decoding gives a factory the arguments with their defaults, in the original's internal form.
func decoding(factory frameworkruntime.PluginFactory, empty func() runtime.Object) frameworkruntime.PluginFactory {
	return func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
		if empty == nil {
			return factory(ctx, nil, h)
		}
		external := empty()
		var given any = args // ours, as a configuration decodes them
		if raw, ok := args.(*runtime.Unknown); ok {
			given = json.RawMessage(raw.Raw)
		}
		encoded, err := json.Marshal(given)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(encoded, external); err != nil {
			return nil, fmt.Errorf("decode %s: %w", encoded, err)
		}
		arguments.Default(external)
		internal, err := arguments.ConvertToVersion(external, runtime.InternalGroupVersioner)
		if err != nil {
			return nil, err
		}
		made, err := factory(ctx, internal, h)
		kept = append(kept, made)
		return made, err
	}
}

// kept are plugins whose finalizers must not run: they would use channels of a bubble from outside.
var kept []fwk.Plugin

// discovered is an API server that says which custom resources it has. The originals' clients ask.
type discovered struct{ *schedulertest.APIServer }

// Config returns the configuration of a client.
func (d discovered) Config(userAgent string) *rest.Config {
	config := d.APIServer.Config(userAgent)
	config.Transport = discovery{config.Transport}
	return config
}

type discovery struct{ http.RoundTripper }

var customKinds = map[schema.GroupVersion][]metav1.APIResource{
	{Group: "scheduling.x-k8s.io", Version: "v1alpha1"}: {
		{Name: "elasticquotas", SingularName: "elasticquota", Kind: "ElasticQuota", Namespaced: true, Verbs: metav1.Verbs{"get", "list", "watch"}},
		{Name: "podgroups", SingularName: "podgroup", Kind: "PodGroup", Namespaced: true, Verbs: metav1.Verbs{"get", "list", "watch"}},
	},
	{Group: "topology.node.k8s.io", Version: "v1alpha2"}: {
		{Name: "noderesourcetopologies", SingularName: "noderesourcetopology", Kind: "NodeResourceTopology", Verbs: metav1.Verbs{"get", "list", "watch"}},
	},
}

// RoundTrip answers what the server does not.
func (d discovery) RoundTrip(r *http.Request) (*http.Response, error) {
	var answer any
	switch path := strings.Trim(r.URL.Path, "/"); path {
	case "api":
		answer = metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions", APIVersion: "v1"}, Versions: []string{"v1"}}
	case "apis":
		list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for gv := range customKinds {
			list.Groups = append(list.Groups, groupOf(gv))
		}
		answer = list
	default:
		for gv, resources := range customKinds {
			switch path {
			case "apis/" + gv.Group:
				answer = groupOf(gv)
			case "apis/" + gv.String():
				answer = metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String(), APIResources: resources}
			}
		}
	}
	if answer == nil {
		response, err := d.RoundTripper.RoundTrip(r)
		if err != nil || r.Method != http.MethodGet || r.URL.Query().Get("watch") != "" {
			return response, err
		}
		list := map[string]any{}
		if err := json.NewDecoder(response.Body).Decode(&list); err != nil {
			return nil, err
		}
		// The server does not know what a list of custom resources is called.
		for gv, resources := range customKinds {
			for _, resource := range resources {
				if list["kind"] == "List" && list["apiVersion"] == gv.String() && strings.HasSuffix(r.URL.Path, "/"+resource.Name) {
					list["kind"] = resource.Kind + "List"
				}
			}
		}
		return respond(r, response.StatusCode, list)
	}
	return respond(r, http.StatusOK, answer)
}

func respond(r *http.Request, code int, answer any) (*http.Response, error) {
	body, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)),
	}, nil
}

func groupOf(gv schema.GroupVersion) metav1.APIGroup {
	version := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
	return metav1.APIGroup{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: gv.Group,
		Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
	}
}

// forever never has a value. It belongs to no bubble.
var forever = make(chan struct{})

// inBubble returns what do returns, which runs in a bubble of testing/synctest. The originals leave
// goroutines that never end, so the bubble does not end either. Its clock stands still from then
// on, because a goroutine of it waits for something outside.
func inBubble[T any](t *testing.T, do func(ctx context.Context) T) T {
	result := make(chan T, 1)
	go synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
		out := do(ctx)
		cancel()
		synctest.Wait()
		result <- out
		<-forever
	})
	return <-result
}
