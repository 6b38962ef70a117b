// Package standalone answers hypothetical questions without a running simulator: it reads the
// objects of a cluster at one moment from a file, a recording or the cluster itself, completes them
// as an API server and controllers would have done, and asks the what-if engine.
//
// It starts no API server, writes nothing, and reaches no other program than the API server of a
// kubeconfig, which it only reads. Package storedform replaces the API server. Controllers do not
// run: what they had not done at that moment stays undone.
//
// It may import scheduler/config, scheduler/whatif with its packages, simulator/questions/ask,
// simulator/questions/hypothesis and the packages that read files, recordings and clusters.
package standalone
