// Package watch carries list-then-watch over WebSockets: of any kind of Kubernetes
// objects, of the newest results, of the simulator's status and of the scheduling
// queue.
//
// A Hub reads each list from the API server once, however many clients follow it.
// It is an http.Handler, and trusts its caller to have checked the request's Host,
// Origin and token. What a client can make it hold is bounded: frames,
// connections, subscriptions, and the changes that a slow client has yet to read;
// a client that is further behind lists again.
//
// The package may import client-go and scheduler/result. It knows nothing of the
// server's routes.
package watch
