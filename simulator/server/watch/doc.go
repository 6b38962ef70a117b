// Package watch serves list-then-watch over WebSockets, for Kubernetes objects of any kind and for
// topics such as the newest results, the simulator's status and the scheduling queue.
//
// A Hub lists and watches each kind at the API server once, however many clients follow it. It
// queues nothing per client: a client is a position in a bounded log of changes, and one that falls
// too far behind lists again. The hub bounds frames, connections and subscriptions as well.
//
// The package is not a server. A Hub is an http.Handler; its caller routes requests to it and has
// checked their Host, Origin and token.
//
// The package may import client-go, scheduler/result and simulator/cluster/objects, and no HTTP
// framework.
package watch
