// The texts of explanations, by kind. The Go package scheduler/explain renders the same
// statements, and scheduler/explain/testdata/cases.json tests both for the same words.

export const explanation = {
  explain: {
    best: '{pod} runs on {node}: best total {total} of {feasible} feasible, {margin} ahead of {next}.',
    tied: '{pod} runs on {node}: best total {total} of {feasible} feasible, tied with {others} and picked at random.',
    tiedBySeed:
      '{pod} runs on {node}: best total {total} of {feasible} feasible, tied with {others} and picked by the seed.',
    only: '{pod} runs on {node}: the only feasible node of {evaluated} evaluated.',
    firstFeasible:
      '{pod} runs on {node}: the first feasible node that the search found. It stopped there, because nothing scores nodes.',
    unscored: '{pod} runs on {node}: one of {feasible} feasible nodes. The record holds no scores.',
    hinted: '{pod} runs on {node}: opportunistic batching proposed the node, and it fits.',
    wasNominated: '{pod} runs on {node}: it was nominated there, and the node fits.',
    waiting: '{pod} was assigned to {node} and waits for {plugins}.',
    error: '{pod} could not be scheduled because of an error: {message}',
    extenderError: '{pod} could not be scheduled because the extender {extender} failed at {verb}: {message}',
    noNodes: '{pod} cannot be scheduled: the cluster has no nodes.',
    preFilter: '{pod} was rejected by {plugins} before any node was checked: {reasons}',
    refusedLater: '{pod} was assigned to {node}, then {plugin} rejected it in {stage}: {reasons}',
    permitTimeout: '{pod} was assigned to {node}, but {plugin} did not allow it within {waited}.',
    lost: '{pod} was assigned to {node} and then rejected: {message}',
    noNode:
      '{pod} fits no node: {evaluated} node rejected, {rejecters}. | {pod} fits no node: {evaluated} nodes rejected, {rejecters}.',
    rejecter: '{nodes} by {plugin}',
    noReason: 'it gave no reason',
    unschedulable: '{pod} was not scheduled: {message}',
    waited: 'It waited {waited} until {plugins} allowed it.',
    nominatedCounted:
      '{nodes} node was rejected with the pods nominated to it counted as running there ({pods}); ' +
      'the scheduler did not try it without them. | ' +
      '{nodes} nodes were rejected with the pods nominated to them counted as running there ({pods}); ' +
      'the scheduler did not try them without those pods.',
    nominatedHolds: '{counted} The pods nominated to {node} count {amounts} there.',
    notEvicted: '{victims} of them was not evicted: {errors} | {victims} of them were not evicted: {errors}',
    searchEnded:
      '{nodes} node was not evaluated: enough nodes had been found before extenders rejected them. | ' +
      '{nodes} nodes were not evaluated: enough nodes had been found before extenders rejected them.',
    room: 'Preemption makes room on {node} by removing {victims} pod. | Preemption makes room on {node} by removing {victims} pods.',
    nominated: 'Preemption makes room on {node}.',
    nearest:
      '{node} lacks {lacks}. | Of the {nodes} nodes that lack resources, {node} is the closest fit: it lacks {lacks}.',
    lack: '{amount} {resource}',
    lackPod: 'room for one more pod',
    derived: '{pod} requests {amount} {resource}: {derivation}.',
    requestPart: '{container} ({amount})',
    requestOfPod: '{amount} for the pod as a whole, whatever its containers request',
    requestPeak:
      'the init container {init} while the sidecar {sidecars} runs | the init container {init} while the sidecars {sidecars} run',
    requestInit: 'the init container {init}',
    requestOverhead: '{said} + {overhead} overhead',
    leaving:
      '{leaving} of the {inUse} {resource} in use on {node} will be free: {pods} is terminating. | ' +
      '{leaving} of the {inUse} {resource} in use on {node} will be free: {pods} are terminating.',
    permitHold:
      '{pods} was assigned to {node} and counts {amount} {resource} there while it waits for a permit. | ' +
      '{pods} were assigned to {node} and count {amount} {resource} there while they wait for a permit.',
    resizing: '{pod} counts {amount} {resource}: {resize}.',
    resizeDeferred: 'it asked for a resize from {granted} to {asked} that is deferred',
    resizeInfeasible: 'it asked for a resize from {granted} to {asked} that is infeasible',
    resizeInProgress: 'it asked for a resize from {granted} to {asked} that is not complete',
    described: 'On {node}, kubectl describe shows {described} {resource} and not {inUse}: {why}.',
    describedNominated: 'it leaves out pods that are only nominated',
    describedPermit: 'it leaves out pods that wait for a permit',
    describedResize: 'it adds up what pods ask for, whatever they were granted',
    nodesFromExtender:
      'The extender {extender} has no node cache, so the plugins that score were given nodes without their pods and images.',
    extenderFailure: 'The extender {extender} failed at {verb}: {message}',
    extenderIgnored: 'The extender {extender} failed at {verb} and was ignored: {message}',
    panicked: '{plugin} panicked in {call}, and the call counted as failed.',
    devicesAllocated: 'Its {claims}.',
    claimHolds: 'claim {claim} holds {devices}',
    nextClaim: '{claims}, its {next}',
    devicesOf: '{devices} of {driver}',
    nextDriver: '{devices} and {next}',
    devices: '{n} device | {n} devices',
    devicesAll: 'all devices',
    deviceShortage:
      'Request {request} of claim {claim} needs {wanted} of class {deviceClass}: ' +
      '{nodes} of {compared} checked node cannot satisfy it ({why}). | ' +
      'Request {request} of claim {claim} needs {wanted} of class {deviceClass}: ' +
      '{nodes} of {compared} checked nodes cannot satisfy it ({why}).',
    devicesNoMatch: 'too few match on {n}',
    devicesInUse: 'already in use on {n}',
    devicesBlocked: 'cannot be allocated on {n}',
    devicesTogether:
      'On {nodes} node, each device request could be met on its own, but not all of them together. | ' +
      'On {nodes} nodes, each device request could be met on its own, but not all of them together.',
    heldByGroup: '{pod} was assigned to {node}, but {shortfall}',
    notTried: '{pod} was not tried, because {shortfall}',
    groupShort: 'No member proceeds: {shortfall}',
    shortfallGang: 'its pod group {group} needs {needs} members, and nodes were found for only {found}',
    shortfallNoGang: 'no node was found for any member of its pod group {group}',
    shortfallNearest:
      '{shortfall} in {topologyKey}={name}, the best of {placements} placement | ' +
      '{shortfall} in {topologyKey}={name}, the best of {placements} placements',
    shortfallAlone: '{shortfall}.',
    shortfallBlocked: '{shortfall}; nodes were rejected by {blockers}.',
    blocker: '{plugin} for {members} member | {plugin} for {members} members',
    blockerReasons: '{blocker} ({reasons})',
    groupRejected: '{pod} was not tried: its pod group {group} was rejected before any member was tried: {reasons}.',
    groupHasEnough: 'Its pod group {group} needs {needs} members and has {has} already.',
    groupPlaced:
      'Its pod group {group} has nodes for {has} of {members} member | Its pod group {group} has nodes for {has} of {members} members',
    groupPlacedNeeds: '{placed}, and needs {needs}',
    groupPlacedAnywhere: '{placed}.',
    groupPlacedBest:
      '{placed}, in {topologyKey}={name}: total {total}, the best of {fitting} placements that fit, of {placements}.',
    groupPlacedOnly:
      '{placed}, in {topologyKey}={name}, the only one of {placements} placement that fits. | ' +
      '{placed}, in {topologyKey}={name}, the only one of {placements} placements that fits.',
    groupRoom: '{plugin} makes room for the group.',
    groupVictims:
      '{plugin} makes room for the group by removing {victims} pod. | {plugin} makes room for the group by removing {victims} pods.',
    groupFits: 'In its dry run, {plugin} found nodes for the group without removing a pod.',
    groupRoomImpossible:
      'It would not fit even without {pods} pod of lower priority. | It would not fit even without {pods} pods of lower priority.',
    membersMissing:
      '{pod} was rejected before any node was checked: ' +
      'its pod group {group} needs {needs} pod and has only {members}. | ' +
      '{pod} was rejected before any node was checked: ' +
      'its pod group {group} needs {needs} pods and has only {members}.',
    membersGated:
      '{pod} was rejected before any node was checked: ' +
      'its pod group {group} needs {needs} pod, and {gated} of its {members} have scheduling gates. | ' +
      '{pod} was rejected before any node was checked: ' +
      'its pod group {group} needs {needs} pods, and {gated} of its {members} have scheduling gates.',
    groupBackedOff:
      '{pod} was rejected before any node was checked: its pod group {group} failed recently and is in backoff for another {left}.',
    groupLacksResources:
      '{pod} was rejected before any node was checked: for its pod group {group}, all nodes together lack {lacking}.',
    groupMissing: '{pod} was assigned to {node} and then rejected: its pod group {group} does not exist.',
    membersAwaited:
      '{pod} was assigned to {node} and waits: ' +
      'its pod group {group} needs {more} more member, and has places for {has} of {needs}. | ' +
      '{pod} was assigned to {node} and waits: ' +
      'its pod group {group} needs {more} more members, and has places for {has} of {needs}.',
    memberFitsNowhere:
      '{pod} was assigned to {node} and lost its place: ' +
      '{member} of its pod group {group} fits no node, so the members that waited were sent back.',
    memberLostPlace:
      '{pod} was assigned to {node} and lost its place: ' +
      '{member} of its pod group {group} lost its own, so the members that waited were sent back.',
    membersSentBack:
      'Its pod group {group} has places for {has} of the {needs} members that it needs, so Coscheduling sent ' +
      '{sent} waiting member back. | Its pod group {group} has places for {has} of the {needs} members that it ' +
      'needs, so Coscheduling sent {sent} waiting members back.',
    membersKept:
      'Its pod group {group} has places for {has} of the {needs} members that it needs, which is close enough for ' +
      'Coscheduling to let them wait.',
    membersComplete:
      'Its pod group {group} needs {needs} member and has places for {has}. | ' +
      'Its pod group {group} needs {needs} members and has places for {has}.',
    membersShort:
      'When it began to wait, its pod group {group} had places for {has} of the {needs} members that it needs.',
    quotaAtMax:
      '{pod} was rejected before any node was checked: it would take {namespace} above the max of its quota ({short}).',
    quotasUsedUp:
      '{pod} was rejected before any node was checked: it would take all quotas together above the sum of their mins ({short}).',
    quotaShort: '{resource}: {used} used + {requested} requested > {limit}',
    quotaShortNominated: '{resource}: {used} used + {nominated} nominated + {requested} requested > {limit}',
    quotaBorrowers: 'Above their mins, namespaces borrow: {loans}.',
    quotaLoan: '{namespace} {amount} {resource}',
    quotaReclaims: 'The min of {namespace} covers the pod, so it may take back what other namespaces borrow.',
    quotaAboveMin:
      'With the pod, {namespace} would be above its min, so the pod may only take from less important pods of {namespace}.',
    quotaNobody:
      'On {nodes} node, no pod runs that it may take from. | On {nodes} nodes, no pod runs that it may take from.',
    quotaBorrows: 'With it, {namespace} is above its min and borrows {loans}.',
    unalignedOn:
      'No NUMA node of {node} has | Of the {nodes} nodes that cannot align it, {node} is the closest fit: no NUMA node there has',
    unalignedResource: '{where} {requested} {resource} for {part}: {zones}.',
    unaligned: '{where} all that {part} needs: {zones}.',
    unalignedAnywhere: '{where} all that {part} needs.',
    wholePod: 'the pod as a whole',
    partOfPod: '{role} {container}',
    roles: { container: 'container', init: 'init container', sidecar: 'sidecar container' },
    zoneHasNone: '{zone} has none',
    zoneLists: '{zone} has no {resource}',
    zoneHas: '{zone} has {available}',
    zoneHasOf: '{zone} has {available} of {requested} {resource}',
    unknown: 'This page is older than the server and does not know {kind}. Reload the page.',
    /** For use beside the pod and its node, so the text does not name them. */
    said: 'Best total {total} of {feasible} feasible.',
    saidRejected: 'Rejected:',
    saidMargin: 'Margin {margin} over {next}.',
    saidTied: 'Tied with {others} and picked at random.',
    saidTiedBySeed: 'Tied with {others} and picked by the seed.',
  },
}
