// Package server serves the simulator over HTTP: the API (health, status, results, scheduler
// configuration, import and export, reset, replay), a proxy to the Kubernetes API of the simulated
// cluster, the WebSocket of package watch, and the embedded web application.
//
// It starts before the control plane does: until SetBackend attaches the control plane and the
// scheduler, routes that need them answer 503. It makes no scheduling decisions and owns no data.
// It passes on results, configurations and objects as their owners return them.
//
// It answers a request only if the Host, the Origin and, if the server has a token, the token are
// valid. It bounds request bodies, connections and the memory that a client can make it use.
//
// The package may import client-go; scheduler/result, scheduler/explain, scheduler/config and
// scheduler/yamlsource; and simulator/host/connections, simulator/cluster/definitions,
// simulator/cluster/objects, simulator/past/replay, simulator/elsewhere/transfer with its package
// manifest, and server/watch. Echo's types stay inside it.
package server
