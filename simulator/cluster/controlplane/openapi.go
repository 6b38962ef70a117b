package controlplane

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/mux"
	"k8s.io/apiserver/pkg/server/routes"
	"k8s.io/component-base/featuregate"
	"k8s.io/kube-openapi/pkg/handler3"
)

const (
	openAPIV2   = "/openapi/v2"
	openAPIV3   = "/openapi/v3"
	versionPath = "version"
)

// lateOpenAPI serves the OpenAPI documents of the built-in kinds. It builds them when a client asks
// for the first one: they are a third of what a new control plane holds in memory and a fifth of
// the work of its start, and many clients never ask.
//
// Upstream builds them at the start, because the index of version 3 has a hash of each document.
// Here the hash is that of everything that the documents depend on.
type lateOpenAPI struct {
	paths     []string
	hash      string
	documents func() http.Handler
}

// delayOpenAPI makes the server of the built-in kinds leave out its documents. install, to be
// called before that server runs, lets it serve them after all.
func delayOpenAPI(config *genericapiserver.Config, hash string) (install func(*genericapiserver.GenericAPIServer)) {
	config.SkipOpenAPIInstallation = true
	documents := routes.OpenAPI{Config: config.OpenAPIConfig, V3Config: config.OpenAPIV3Config}
	return func(server *genericapiserver.GenericAPIServer) {
		container := server.Handler.GoRestfulContainer
		late := lateOpenAPI{hash: hash, documents: sync.OnceValue(func() http.Handler {
			built := mux.NewPathRecorderMux("openapi")
			documents.InstallV2(container, built)
			documents.InstallV3(container, built)
			return built
		})}
		for _, service := range container.RegisteredWebServices() {
			// Every server of the chain describes this one. The aggregator takes the entry of the
			// index from any, and the document from any, so their hashes must agree.
			if path := strings.TrimPrefix(service.RootPath(), "/"); path != versionPath {
				late.paths = append(late.paths, path)
			}
		}
		late.install(server.Handler.NonGoRestfulMux)
	}
}

func openAPIHash(version string, gates featuregate.MutableFeatureGate) string {
	hash := sha256.New()
	fmt.Fprintln(hash, version)
	for _, feature := range slices.Sorted(maps.Keys(gates.GetAll())) {
		fmt.Fprintln(hash, feature, gates.Enabled(feature))
	}
	return fmt.Sprintf("%X", hash.Sum(nil))
}

func (l lateOpenAPI) install(to *mux.PathRecorderMux) {
	to.HandleFunc(openAPIV2, func(w http.ResponseWriter, r *http.Request) { l.documents().ServeHTTP(w, r) })
	to.HandleFunc(openAPIV3, l.serveIndex)
	to.HandlePrefix(openAPIV3+"/", http.HandlerFunc(l.serveDocument))
}

// serveIndex answers as upstream's handler3.OpenAPIService does, with other hashes.
func (l lateOpenAPI) serveIndex(w http.ResponseWriter, _ *http.Request) {
	index := handler3.OpenAPIV3Discovery{Paths: map[string]handler3.OpenAPIV3DiscoveryGroupVersion{}}
	for _, path := range l.paths {
		at := url.URL{Path: openAPIV3 + "/" + path, RawQuery: url.Values{"hash": {l.hash}}.Encode()}
		index.Paths[path] = handler3.OpenAPIV3DiscoveryGroupVersion{ServerRelativeURL: at.String()}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(index) // the client may be gone
}

// A client may keep a document that it asks for by our hash, as upstream allows for its own.
func (l lateOpenAPI) serveDocument(w http.ResponseWriter, r *http.Request) {
	if query := r.URL.Query(); query.Get("hash") == l.hash {
		query.Del("hash")
		r = r.Clone(r.Context())
		r.URL.RawQuery = query.Encode()
		w.Header().Set("Cache-Control", "public, immutable")
		w.Header().Set("Expires", time.Now().AddDate(1, 0, 0).UTC().Format(http.TimeFormat))
	}
	l.documents().ServeHTTP(w, r)
}
