package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/admission"
	webhookinit "k8s.io/apiserver/pkg/admission/plugin/webhook/initializer"
	"k8s.io/apiserver/pkg/server/egressselector"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"

	"kube-scheduler-simulator/simulator/cluster/outbound"
)

// confinement keeps an API server from calling what its user has not allowed: webhooks of admission
// and of conversion, and the servers behind APIServices. It never calls kubelets and programs in
// pods, which do not exist here; see connects.
type confinement struct {
	policy   outbound.Policy
	services netip.Prefix
	webhooks Webhooks
}

func confine(opts Options) confinement {
	return confinement{policy: opts.Outbound, services: netip.MustParsePrefix(serviceIPs), webhooks: opts.Webhooks}
}

// apply replaces every dialer that the API servers use. Admission plugins have theirs already; see
// decorate.
func (c confinement) apply(config *app.Config) {
	kube := config.KubeAPIs
	kube.Extra.KubeletClientConfig.Lookup = func(egressselector.NetworkContext) (utilnet.DialFunc, error) {
		return refuseDial, nil
	}
	toPods := kube.ControlPlane.ProxyTransport.Clone()
	toPods.DialContext = refuseDial
	kube.ControlPlane.ProxyTransport = toPods

	extensions := &config.ApiExtensions.ExtraConfig
	inner := extensions.AuthResolverWrapper
	extensions.AuthResolverWrapper = func(r webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver {
		return c.resolver(inner(r))
	}
	extensions.ServiceResolver = confinedServices{extensions.ServiceResolver, c}

	aggregator := &config.Aggregator.ExtraConfig
	toServers := aggregator.ProxyTransport.Clone()
	toServers.DialContext = c.dial
	aggregator.ProxyTransport = toServers
	aggregator.ServiceResolver = confinedServices{aggregator.ServiceResolver, c}
}

// decorate confines plugins that call webhooks.
func (c confinement) decorate(plugin admission.Interface, _ string) admission.Interface {
	if wants, ok := plugin.(webhookinit.WantsAuthenticationInfoResolverWrapper); ok {
		wants.SetAuthenticationInfoResolverWrapper(c.resolver)
	}
	return plugin
}

// resolver refuses nothing itself: without its converter, a custom resource could not be served in
// its stored version either.
func (c confinement) resolver(inner webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver {
	return &webhook.AuthenticationInfoResolverDelegator{
		ClientConfigForFunc: func(hostPort string) (*rest.Config, error) {
			return c.client(inner.ClientConfigFor(hostPort))
		},
		ClientConfigForServiceFunc: func(name, namespace string, port int) (*rest.Config, error) {
			if c.webhooks.answers(namespace, name) {
				return &rest.Config{WrapTransport: func(http.RoundTripper) http.RoundTripper { return c.webhooks.Conversion }}, nil
			}
			return c.client(inner.ClientConfigForService(name, namespace, port))
		},
	}
}

// client returns a copy of config, which callers may share, that dials only what is allowed.
func (c confinement) client(config *rest.Config, err error) (*rest.Config, error) {
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.Dial = c.dial
	if !c.policy.Anywhere {
		// The environment may name an HTTP proxy on loopback, which connects to anything.
		config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	}
	return config, nil
}

func (c confinement) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("calling %q: %w", address, err)
	}
	if err := c.check(host); err != nil {
		return nil, err
	}
	return c.policy.DialContext(ctx, network, address)
}

// check also refuses the addresses of services, which belong to other machines.
func (c confinement) check(host string) error {
	if address, err := netip.ParseAddr(host); err == nil && c.services.Contains(address.Unmap()) {
		return fmt.Errorf("no program runs behind the services of a simulated cluster (%s); use a URL, or a service of type ExternalName", host)
	}
	return c.policy.Check(host)
}

type confinedServices struct {
	inner       webhook.ServiceResolver
	confinement confinement
}

var _ webhook.ServiceResolver = confinedServices{}

func (s confinedServices) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	if s.confinement.webhooks.answers(namespace, name) {
		return &url.URL{Scheme: "https", Host: name + "." + namespace + ".svc:443"}, nil // nothing is called
	}
	u, err := s.inner.ResolveEndpoint(namespace, name, port)
	if err != nil {
		return nil, err
	}
	if err := s.confinement.check(u.Hostname()); err != nil {
		return nil, err
	}
	return u, nil
}

// refuseDial is for kubelets and programs in pods, requests to which connects answers.
func refuseDial(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("no kubelet stands behind a virtual node")
}
