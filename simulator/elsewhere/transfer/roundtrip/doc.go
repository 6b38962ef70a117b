// Package roundtrip tests exports and imports against a control plane. It holds tests only: it is a
// package of its own so that the other tests of transfer link no API server.
package roundtrip
