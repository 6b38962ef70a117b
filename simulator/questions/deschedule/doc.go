// Package deschedule answers what the descheduler would do with a policy, before it does: which pods it evicts, in their order, why and by
// which plugin, who refuses an eviction, where each replacement lands or why it stays pending, and what the nodes look like afterwards.
// Nothing is evicted.
//
// Which pods go is decided by the descheduler's own code, through simulator/cluster/descheduler, on a copy of the state. Each eviction is carried
// out there, by disruption, before the next is decided. The descheduler's own dry run does not do that; what it would say is in the answer, too.
//
// It may import scheduler/whatif, scheduler/yamlsource, simulator/cluster/descheduler, simulator/questions/disruption,
// simulator/questions/hypothesis and simulator/questions/why.
package deschedule
