// Package server answers the simulator's HTTP API: health, status, results,
// the scheduler configuration, a proxy to the simulated cluster's Kubernetes
// API, a WebSocket that carries list-then-watch of any kinds, and the embedded
// web application.
//
// It serves before there is anything to serve (SetBackend attaches the control
// plane and the scheduler), and it decides nothing about scheduling: results,
// configurations and objects are passed on as their owners give them.
//
// It trusts nobody by default: a request is answered when its Host, its Origin
// and, where one is set, its token are right. What a client can make it hold is
// bounded: bodies, frames, connections, subscriptions, and what is queued for
// a client that does not read.
//
// The package may import client-go and scheduler/result. Echo's types stay
// inside it.
package server
