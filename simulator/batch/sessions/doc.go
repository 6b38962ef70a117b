// Package sessions runs the session schedulers and the flow scheduler on the simulated cluster: it
// serves pods whose schedulerName is kube-batch, volcano or poseidon, carries out what packages
// session and flow decide, and keeps their records and configurations.
//
// It is off until the user turns it on. It decides nothing itself. It may import scheduler/config,
// scheduler/others/flow, scheduler/result, scheduler/others/session, scheduler/whatif,
// simulator/host/datadir, and simulator/host/recordlog.
package sessions
