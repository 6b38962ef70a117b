// The Decisions page and the decision of a pod.

export const decision = {
  held: {
    title: 'Not in the scheduling queue',
    sentence: '{pod} has not been tried: {plugins} holds it in PreEnqueue.',
    why:
      'A pod that a PreEnqueue plugin holds does not enter the scheduling queue, so the scheduler neither filters ' +
      'nor scores nodes for it. The first attempt will appear here.',
    here: 'held',
    lifts: 'How to release it',
    gates:
      'Every gate in spec.schedulingGates must be removed. Usually the controller that set a gate removes it. ' +
      'Gates cannot be added to an existing pod.',
    gatesCommand: 'To remove all gates with kubectl:',
    remove: 'Remove',
    removeGate: 'Remove gate {gate}',
    group: 'The pod group {group} must exist and have its minimum number of pods.',
    claims: 'These resource claims must exist: {claims}.',
    victims: 'The pods that it preempts must terminate first.',
    event: 'A cluster event that the plugin registered for must occur.',
  },
  candidate: {
    candidate: 'candidate in the PostFilter dry run',
    chosen: 'chosen by the PostFilter dry run',
    without:
      'With its {n} lower-priority pods removed, {pod} passes Filter. ' +
      'The dry run then adds them back one at a time. | ' +
      'With its {n} lower-priority pod removed, {pod} passes Filter. The dry run then adds it back. | ' +
      'With its {n} lower-priority pods removed, {pod} passes Filter. ' +
      'The dry run then adds them back one at a time.',
    putBack: 'Added back one at a time',
    reprieved: 'reprieved',
    victim: 'victim',
    violations:
      'Its victims violate {n} PodDisruptionBudgets. | Its victims violate {n} PodDisruptionBudget. | ' +
      'Its victims violate {n} PodDisruptionBudgets.',
    noViolations: 'Its victims violate no PodDisruptionBudget.',
    how:
      'Pods are listed by priority, then by start time. ' +
      'The dry run first adds back pods whose removal would violate a PodDisruptionBudget. ' +
      'A pod that makes Filter fail is not added back and becomes a victim.',
  },
  aftermath: {
    title: 'What happened next',
    later: '{time} later',
    laterThere: '{time} later, on the nominated node',
    nominated: 'Nominated',
    removed: 'Preempted',
    waiting: 'Waiting for the victims to terminate',
    notYet: 'No node yet',
    hidden: '{n} more attempts without a node | {n} more attempt without a node | {n} more attempts without a node',
  },
  notEvaluated: {
    enoughFeasibleNodes:
      '{n} not evaluated: the scheduler had already found the {wanted} feasible nodes that it looks for.',
    firstFeasible: '{n} not evaluated: the search stops at the first feasible node, because nothing scores nodes.',
    preFilter: '{n} not evaluated: {plugins} excluded them in PreFilter.',
    hint: '{n} not evaluated: the scheduler took the node that opportunistic batching proposed.',
    nominatedNode: '{n} not evaluated: the scheduler tried the nominated node first, and it fits.',
    outsidePlacement: '{n} not evaluated: they are not in the pod group’s placement.',
    error: '{n} not evaluated: the attempt ended with an error.',
  },
  preemption: {
    title: 'Preemption',
    of: '{n} candidates among {total} nodes | {n} candidate among {total} nodes | {n} candidates among {total} nodes',
    decidedBy: '; decided by',
    nextBest: 'next best',
    showDryRun: 'Show the dry run of {node}',
    candidates: 'no candidates | {n} candidate | {n} candidates',
    dropped: 'The record keeps the chosen candidate and those closest to it by the rules, {n} in all.',
    victims: 'Victims',
    withPriority: 'with priority',
    reprieved: 'Reprieved',
    violations: 'PDB violations',
    noVictims: {
      noPods: 'no pod runs there',
      nobodyLower: 'no pod has a lower priority',
      nobodyMay: 'no pod may give way',
      notEnough: 'rejected even without the pods that may go:',
      failed: 'the dry run failed:',
      unknown: 'the dry run found no victims:',
    },
    never: 'Preemption evicts no pod, because the pod’s preemptionPolicy is Never.',
    victimsTerminating: 'Preemption evicts no further pod while those that it evicts terminate on the nominated node.',
    other: 'Preemption evicts no pod, because the pod is not eligible for it.',
    nobodyLower:
      'No candidates: on none of the nodes that preemption tried does a pod have a lower priority, so it may evict none.',
    nobodyMay: 'No candidates: on none of the nodes that preemption tried may a pod give way.',
    notEnough: 'No candidates: in no dry run do the pods that preemption may evict make room.',
    none: 'No candidates.',
    notChosen: 'Preemption chose no candidate.',
    onlyOne: '{node} is the only candidate.',
    onlyConsidered: '{node} is the only candidate that the scheduler considered.',
    surplus: 'not considered: there were enough candidates',
    startsNow: 'not started',
    evictions: 'Evictions',
    evictionsDeleted: '{n} of {total} deleted',
    evictionsReleased: '{n} released in the scheduler’s memory',
    evictionsTerminating: '{n} already terminating',
    evictionsFailed: '{n} failed',
    evictionsNotTried: '{n} not attempted',
    evictionsRunning: 'in progress',
    evictionsTook: 'in {time}',
    fewestPDBViolations: '{node} is chosen: its victims violate the fewest PodDisruptionBudgets.',
    lowestHighestPriority: '{node} is chosen: the highest priority among its victims is the lowest.',
    lowestSumOfPriorities:
      '{node} is chosen: the sum of its victims’ priorities is the smallest. ' +
      'Kubernetes adds 2³¹ to each priority, so fewer victims give a smaller sum.',
    fewestVictims: '{node} is chosen: it has the fewest victims.',
    latestEarliestStartTime: '{node} is chosen: its highest-priority victims started the latest.',
    firstFound: '{node} is chosen: several candidates tied under every rule, and it came first.',
    ruleName: {
      fewestPDBViolations: 'PDB violations',
      lowestHighestPriority: 'Highest priority',
      lowestSumOfPriorities: 'Sum',
      fewestVictims: 'Victims',
      latestEarliestStartTime: 'Earliest start',
    },
    ruleWins: {
      fewestPDBViolations: 'fewest',
      lowestHighestPriority: 'lowest',
      lowestSumOfPriorities: 'smallest',
      fewestVictims: 'fewest',
      latestEarliestStartTime: 'latest',
    },
    ruleHint: {
      fewestPDBViolations: 'PodDisruptionBudgets that the victims violate: fewest wins',
      lowestHighestPriority: 'Highest priority among the victims: lowest wins',
      lowestSumOfPriorities: 'Sum of the victims’ priorities, with 2³¹ added to each: smallest wins',
      fewestVictims: 'Number of victims: fewest wins',
      latestEarliestStartTime:
        'Earliest start time among the highest-priority victims: latest wins; a victim that has not started counts as starting now',
    },
    removedBy: 'removed by an extender',
    changedBy: 'victims chosen by an extender',
    ruleDecided: 'decided',
    foot: 'Preemption applies the rules from left to right until one candidate remains. It did not compare the dimmed values.',
  },
  decision: {
    copyName: 'Copy pod name',
    present: 'Present',
    presentHint: 'Present this decision one step at a time (p)',
    attempts: 'Attempts',
    attemptOf: 'Attempt {n} of {total}',
    attempt: 'Attempt {n}',
    noNode: 'no node',
    preempted: 'preempted',
    pods: 'Pods with this name',
    podsHint: 'Several pods have had this name',
    podNow: 'newest pod with this name',
    marginTied: '{nodes} have the same total. kube-scheduler picks one of them at random.',
    marginTiedBySeed:
      '{nodes} have the same total. The simulator runs with a seed for ties, and the seed picked one of them.',
    marginOver: 'Margin over {node}',
    pipeline: 'Extension points',
    queue: 'Scheduling queue',
    queueStep: 'Queue',
    scheduling: 'Scheduling cycle',
    binding: 'Binding cycle',
    notRun: 'not run',
    notRunOne: 'not run: 1 feasible',
    leftOut: '{n} not evaluated',
    passedShort: 'passed',
    passed: '{n} passed',
    plusSkip: '+ {n} skipped',
    onlySkip: '{n} skipped',
    refusedOf: '{n} of {total} rejected',
    waits: '{n} waiting',
    noPlugins: 'no plugins',
    timesNodes: '× {n} nodes',
    postFilterHint: 'Runs only when no node is feasible',
    scoreHint: 'Runs only when more than one node is feasible',
    filter: 'Filter',
    filterShow: 'Show nodes',
    allNodes: 'All nodes ({n})',
    feasibleNodes: 'Feasible ({n})',
    rejectedBy: 'Rejected by {plugin} ({n})',
    rejectedNodes: 'Rejected ({n})',
    onlyRejectedBy: 'Show only nodes that {plugin} rejected',
    sortResultHint: 'Feasible nodes by total score, then rejected nodes by how many plugins they passed',
    sortBy: 'Sort by {name}',
    rowsOf: '{n} of {total} nodes',
    filterFind: 'Filter by node or reason',
    scoreFind: 'Filter by node',
    showAll: 'Show all nodes',
    cellNotRunAtAll: 'did not run for {node}',
    plugin: 'Plugin',
    best: 'Best',
    compare: 'Compare',
    difference: 'Difference between two attempts',
    differenceOf: 'From attempt {from} to attempt {to}',
    diffSwap: 'Swap',
    diffClose: 'Close the comparison',
    diffSame: 'No differences: nodes, plugin results and scores are the same.',
    diffAbsent: 'not evaluated',
    diffFact: {
      outcome: 'Outcome',
      node: 'Node',
      profile: 'Profile',
      revision: 'Revision',
      total: 'Total nodes',
      evaluated: 'Evaluated',
      feasible: 'Feasible',
    },
    diffRejects: 'Rejected by {plugin}',
    diffWeight: 'Weight of {plugin}',
    diffNodes: '{n} nodes differ in Filter | {n} node differs in Filter | {n} nodes differ in Filter',
    diffTotals: '{n} nodes with different scores | {n} node with different scores | {n} nodes with different scores',
    diffAnswers: 'Plugins with a different result',
    stageAbout: {
      PreEnqueue: 'Decides whether the pod may enter activeQ.',
      Queue:
        'The pod waits in the scheduling queue. The QueueSort plugin decides which pod is next: ' +
        'PrioritySort orders pods by priority, then by time. ' +
        'After a failed attempt, an event and the end of a backoff bring the pod back.',
      PreFilter:
        'Runs once per attempt, before any node is checked. ' +
        'A plugin can prepare data, restrict the search to certain nodes, or skip its Filter.',
      Filter:
        'Each plugin checks whether the pod can run on a node. The first rejection is final: later plugins do not run for that node.',
      PostFilter:
        'Runs only when no node is feasible. Preemption looks for nodes where removing lower-priority pods makes room.',
      PreScore: 'Prepares scoring, once for all feasible nodes. A plugin with nothing to score skips its Score here.',
      Score:
        'Each plugin scores each feasible node from 0 to 100. ' +
        'The score is multiplied by the plugin’s weight, and the node with the highest total wins.',
      Reserve: 'Reserves the chosen node’s resources, so that no other pod can take them before this pod is bound.',
      Permit: 'The last decision before binding: approve the pod, delay it, or reject it.',
      PreBindPreFlight:
        'Asks each PreBind plugin whether it has work to do for the pod. A plugin that skips here is not called in PreBind.',
      WaitOnPermit:
        'The pod waits until every plugin that delayed it in Permit has allowed it. A rejection or a timeout ends the wait.',
      Unreserve:
        'Undoes Reserve when a later step fails: the Reserve plugins release what they reserved, the last one first.',
      PreBind: 'Does the work that must precede binding, such as provisioning a volume.',
      Bind: 'Writes the node’s name into the pod.',
      PostBind: 'Tells plugins that the pod is bound.',
    },
    extenders: 'Extenders',
    extenderCalls: '{n} requests | {n} request | {n} requests',
    extenderIgnored: 'failed, ignorable',
    extenderRejected: 'rejected {n} node | rejected {n} node | rejected {n} nodes',
    noScore: 'no score',
    extenderNotCalled: 'not called',
    extenderNominated: 'nominated node',
    extenderSkip: 'The pod requests none of the resources that this extender manages.',
    extenderWhole: 'The request contained complete Node objects. Only their names are shown here.',
    extenderCut: 'The texts were too long to keep in full. Each entry shown here is complete; the rest were dropped.',
    extenderRequest: 'Request',
    extenderResponse: 'Response',
    panics: 'Panics',
    panicsHint: 'the scheduler counted these calls as failed and continued',
    panicIn: '{plugin} in {call}',
    panicCount: '{n} call | {n} calls',
    panicStack: 'Stack',
    pluginFacts: 'Attached by plugins',
    pluginFactsHint: 'what plugins recorded about their own decisions',
    factKey: 'Key',
    factValue: 'Value',
    wholeCycle: 'the whole attempt',
    groupMinOf: 'gang: at least {n} must be placed',
    groupMembersTried: '{n} members tried together | {n} member tried | {n} members tried together',
    groupWorkload: 'Created for Workload {workload}, template {template}',
    groupMoreMembers: 'and {n} more that the record does not list',
    groupMorePlacements:
      'The scheduler tried {n} more placements, in which too few members fit. The record does not list them.',
    groupVictims:
      'In its dry run, preemption found nodes for the group without removing a pod. | ' +
      'To make room for the group, preemption removes {n} pod: | ' +
      'To make room for the group, preemption removes {n} pods:',
    groupReprieved:
      'No lower-priority pods are reprieved. | {n} lower-priority pod is reprieved. | {n} lower-priority pods are reprieved.',
    groupNoHelp:
      'The group would not fit even without the {n} lower-priority pod. | ' +
      'The group would not fit even without the {n} lower-priority pod. | ' +
      'The group would not fit even without the {n} lower-priority pods.',
    placementHead: 'Placement',
    placementTried: 'Tried',
    placementHere: 'this attempt',
    groupAlready: '{n} already placed',
    groupTopology: 'all on nodes with the same {key}',
    placementChosen: 'chosen',
    blockedBy:
      '{plugin} rejected nodes for {n} members: | {plugin} rejected nodes for {n} member: | {plugin} rejected nodes for {n} members:',
    placementAll: 'all nodes',
    allOfThem: 'all',
    placementNodes: 'Nodes',
    placementAssigned: 'Members placed',
    notScored: 'not scored',
    revision: 'Revision',
    requeued: 'Requeued',
    backoffEnded: 'Backoff ended',
    queueHistory: 'Queue history',
    queueHistoryNewest: 'newest {n} of {total} attempts',
    rawRecord: 'Raw record',
    saveRaw: 'Save as file',
    rejects: 'rejected',
    node: 'Node',
    reason: 'Reason',
    feasible: 'feasible',
    total: 'total',
    short: '{resource} {amount} short',
    podsFull: 'no room for one more pod',
    termNone: 'the node has no {key}',
    termActual: 'the node has {key}={actual}',
    portsTaken: 'taken: {ports}',
    podTermNone: 'no pod in {domain} matches',
    podTermIn: '{pod} runs in {domain}',
    podTermRepels: '{pod} in {domain} has anti-affinity to this pod',
    podTermSome: 'a pod in {domain} prevents it',
    spreadCounts: '{matching} in {domain}; the domain with the fewest has {minimum}',
    spreadFewest: '{matching} in {domain}; {fewest} has the fewest: {minimum}',
    spreadFew: '{matching} in {domain}; domains: {domains}, fewer than minDomains {minDomains}',
    spreadMost: 'the domain with the most has {maximum}',
    claimNoVolume: 'no volume for claim {claim}',
    claimTooLarge: 'claim {claim} exceeds the largest volume possible there, {largest}',
    devicesInUse: '{inUse} of {onNode} devices in use',
    noDevices: 'no devices on the node',
    filterNotRun: 'Filter did not run: the pod was rejected before any node was checked.',
    filterNotRunError: 'Filter did not run: the attempt had already ended with an error.',
    filterNoNodes: 'Filter did not run: the cluster has no nodes.',
    noRows: 'No nodes match this filter.',
    score: 'Score',
    rawToNorm: 'raw → normalized, × weight',
    values: 'Values',
    valuesAll: 'All',
    valuesRaw: 'Raw',
    valuesNorm: 'Normalized',
    valuesWeighted: 'Weighted',
    rank: 'Rank',
    tie: 'tie',
    totalHead: 'Total',
    toBest: 'vs. best',
    rankHint: 'The rank by total. Nodes with the same total share a rank.',
    totalHint: 'The sum of the weighted scores. The node with the highest total wins.',
    toBestHint: 'How far the node’s total is behind the highest total.',
    partsHint: 'Which plugins the total comes from, in the colours of the column heads.',
    weightHint: '× {weight}: the weight with which the score counts.',
    extenderScoreHint: 'An extender, a service that the scheduler calls.',
    valuesHelp: 'What the numbers mean',
    valuesHint: {
      raw: 'Raw: what the plugin computed, in its own unit.',
      normalized: 'Normalized: the raw score on a scale from 0 to 100, where more is better.',
      weighted: 'Weighted: normalized × the plugin’s weight. Totals add up these.',
    },
    filterStepHint: '{into} nodes were checked, and {out} passed.',
    parts: 'Breakdown',
    chosen: 'chosen',
    scoreOne: 'Only one node was feasible, so the scheduler did not score.',
    scoreHint1: 'The scheduler took the node that opportunistic batching proposed, so it did not score.',
    scoreNone: 'No node was feasible, so the scheduler did not score.',
    scoreMissing: 'This record contains no scores.',
    footTotal: 'Total = sum of normalized × weight.',
    footBold: 'Bold: best in its column.',
    footSkipped: 'Skipped in PreScore: {plugins}.',
    footUniform: 'Same on every node: {plugins}.',
    footExtender: 'An extender’s score is multiplied by its weight and by 10.',
    cellDetail: 'Detail',
    cellRejected: 'rejected {node} in Filter',
    cellPassed: 'let {node} through in Filter',
    cellSkipped: 'was skipped: its PreFilter returned Skip',
    cellNotRun: 'did not run for {node}: {plugin} had already rejected it',
    cellError: 'failed on {node} in Filter',
    cellScore: 'scored {node}',
    order: 'Order',
    orderOf: '{n} of {total}',
    orderAfter: '({n} after it not run)',
    status: 'Status',
    phase: 'Phase',
    phaseNominated: 'rejected with the node’s nominated pods counted as running there',
    phaseBoth: 'checked with and without the node’s nominated pods',
    duration: 'Duration',
    durationAll: 'total over all nodes',
    raw: 'Raw',
    normalized: 'Normalized',
    weight: 'Weight',
    weighted: 'Weighted',
    share: 'Share of the total',
    bestOfColumn: 'Best in its column',
    stage: 'Extension point',
    stageAnswers: 'Plugin results',
    stageNoAnswers: 'No plugin returned a result here.',
    stageNodes: 'restricts Filter to {n} node | restricts Filter to {n} node | restricts Filter to {n} nodes',
    stageParallel: 'its PreBind may run beside those of its neighbours',
    preFlight: 'Pre-flight (PreBindPreFlight)',
    extensionCalls: 'Nominated pods and dry runs (PreFilterExtensions)',
    extensionCounts: 'AddPod × {added}, RemovePod × {removed}',
    extensionFailed: '{n} failed: {errors}',
    notMeasured: 'not measured',
    notMeasuredHint: 'The simulator times only a sample of the calls. The sample contains no call of this plugin.',
    waitEnd: {
      waiting: 'waiting for {plugins}',
      allowed: 'allowed by {plugins}',
      rejected: 'rejected by {plugin}',
      timedOut: '{plugin} did not allow the pod in time',
      preempted: '{plugin} preempted it for another pod',
      over: 'ended: the pod was deleted, or the scheduler stopped',
    },
    nomination: 'Nominated node',
    nominationUsed: 'at the start of the attempt; tried first, used',
    nominationNotUsed: 'at the start of the attempt; not used',
    stageTimeout: 'waits at most {n} s',
    stageNominated: 'nominated {node}',
    compared: 'Compared values',
    allocatable: 'Allocatable',
    inUse: 'In use',
    asked: 'Pod requests',
    left: 'Remaining',
    queueFacts: 'Queue',
    entered: 'Entered',
    waited: 'Waited',
    requeuedBy: 'Requeued by',
    eventOf: '{event} of {object}',
    requeuedPlugin: 'queueing hint of {plugin}',
    flushed: 'the queue’s timer: the pod waited too long for an event',
    backoff: 'Backoff until',
    backoffEarly: 'the attempt started before that',
    ownCount: 'Attempts',
    ownCountWhy: 'as counted by the scheduler since it started',
    hint: 'Node hint',
    hintUsed: 'proposed by opportunistic batching, used',
    hintNotUsed: 'proposed by opportunistic batching, not used',
    priority: 'priority {n}',
    startedAt: 'started {time}',
    nominatedPods: 'Nominated pods',
    nominatedPodsHint: 'The scheduler first checked these nodes as if their nominated pods were already running there.',
    nominatedPassed: 'passed with them',
    nominatedRejected: 'rejected with them',
    podGroup: 'Pod group',
    groupName: 'Group',
    groupMembers: 'Members tried',
    groupMin: 'Minimum',
    groupNoGang: 'no gang policy',
    placement: 'placement',
    placements: 'Placements tried',
    placementFacts: '{assigned} members placed on {nodes} nodes',
    placementTotal: 'total {n}',
    rejectedBefore: 'Rejected by',
    facts: 'This attempt',
    profile: 'Profile',
    started: 'Started',
    took: 'Took',
    nodesFact: 'Nodes',
    nodesFactValue: '{total} total, {evaluated} evaluated, {feasible} feasible',
    message: 'Message',
    uid: 'Pod UID',
    raw_record: 'Raw record',
    copyRaw: 'Copy the raw record',
    history: 'Attempts',
    seen: 'The cluster as the scheduler saw it',
    openPod: 'Show on the map',
    noResultTitle: 'No decision for this pod yet',
    noResultGone: 'Pod {name} does not exist, and the simulator has no decision about it.',
    noResultProfile: 'Its scheduler name is {name}, and no profile has that name.',
    noResultUntried: 'The scheduler has not tried it yet. The decision will appear here.',
    noResultBound:
      'It is on {node}, but no attempt of this scheduler is recorded for it. ' +
      'Either it was created with a node name, or its record was dropped to make room for newer ones.',
    noResultUnschedulable: 'The scheduler reports: {message}',
    newer: 'There is a newer attempt.',
    showNewest: 'Show newest',
    attemptGone: 'Attempt {n} is no longer stored.',
    gridHint: 'Use the arrow keys to move between cells',
  },
}

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
    roomMissed:
      'Preemption removes {victims} pod from {node}, but {plugin} still rejects the pod there: in a dry run, it counts differently. | ' +
      'Preemption removes {victims} pods from {node}, but {plugin} still rejects the pod there: in a dry run, it counts differently.',
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
