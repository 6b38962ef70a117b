// The boards of batch scheduling: pod groups, quotas, NUMA nodes.

export const batch = {
  batch: {
    views: 'Boards',
    view: { queues: 'Queues', gangs: 'Gangs', quotas: 'Quotas', sessions: 'Sessions', submit: 'Before you submit' },
    board: { gangs: 'Pod groups', quotas: 'Elastic quotas', numa: 'NUMA nodes', sessions: 'Sessions' },
    open: { gangs: 'Open the gang board', quotas: 'Open the quota board', numa: 'Open the NUMA board' },
    openDecision: 'Open decision',
    openObject: 'Open object',
    openBoard: 'Board',
    tryPreset: 'Show me: {name}',
    presets: 'Presets',
    applying: 'Opening…',
    preset: {
      borrowing: {
        title: 'Borrowing',
        about: 'Two teams share a cohort. One job borrows unused quota of the other team, and the next one waits.',
      },
      preemption: {
        title: 'Preemption',
        about: 'A job with a high priority evicts one with a low priority, which waits and keeps its position.',
      },
      strict: {
        title: 'Blocked StrictFIFO head',
        about: 'The head of the queue does not fit. A smaller job behind it would, and still waits.',
      },
      queues: {
        title: 'Three queues',
        about:
          'Queues with the weights 3, 2 and 1 share six nodes. A job finds no idle room: ' +
          'preempt undoes its evictions, and reclaim takes room back from the queue that holds more than it ' +
          'deserves.',
      },
      held: {
        title: 'A held gang',
        about:
          'kube-batch: two of three tasks fit. ' +
          'They hold their room without being bound, and a smaller job behind them waits in every session.',
      },
      discarded: {
        title: 'A discarded gang',
        about:
          'Volcano: the same two tasks fit, but the session gives their room back at once, and the smaller job is bound.',
      },
      round: {
        title: 'Six tasks in one flow',
        about:
          'Poseidon places six tasks on four machines in one round. ' +
          'Two of them need an ssd, and the flow keeps that machine free for them.',
      },
      gap: {
        title: 'The optimality gap',
        about:
          'kube-scheduler places the same six pods one by one and leaves the last one without a node. The costs of a flow show the gap.',
      },
    },
  },
  gang: {
    native: 'Kubernetes',
    emptyTitle: 'No pod groups',
    emptyBody:
      'A pod group starts its pods together or not at all. ' +
      'This board shows for each group which members have a node, which wait, how long they still wait, and why ' +
      'the group does not start. The preset enables Coscheduling and creates two small groups.',
    emptyNative: 'For Kubernetes’ own pod groups, start the simulator with --feature-gates GenericWorkload=true.',
    filter: 'Filter groups',
    gone: 'There is no pod group {name}.',
    nothingFound: 'No pod group matches “{text}”.',
    moreGroups: '{n} more groups. Filter to find them.',
    size: '{n} × {amount} {resource}',
    noMinimum: 'any',
    noWait: 'No member waits at Permit',
    phase: 'phase {phase}',
    noPhase: 'no phase yet',
    seconds: '{n} s',
    secondsLeft: '{n} seconds until the wait at Permit ends',
    say: {
      waiting:
        '{group} waits for {missing} of its {least} members. | ' +
        '{group} waits for {missing} of its {least} members. | ' +
        '{group} waits for {missing} of its {least} members.',
      tooFew:
        '{group} needs {more} more pods: {have} of {least} exist. | ' +
        '{group} needs {more} more pod: {have} of {least} exist. | ' +
        '{group} needs {more} more pods: {have} of {least} exist.',
      noPods: 'No pod belongs to {group}.',
      rejected:
        '{group} does not start: it needs {least} members at once. | ' +
        '{group} does not start: it needs {least} member. | ' +
        '{group} does not start: it needs {least} members at once.',
      gated:
        '{group} cannot start: {gated} of its {have} pods have scheduling gates. | ' +
        '{group} cannot start: {gated} of its {have} pods has scheduling gates. | ' +
        '{group} cannot start: {gated} of its {have} pods have scheduling gates.',
      partly:
        '{group} has the {least} members that it needs, and {without} more have no node. | ' +
        '{group} has the {least} members that it needs, and {without} more has no node. | ' +
        '{group} has the {least} members that it needs, and {without} more have no node.',
      running:
        '{group} runs: {placed} members have a node, and it needs {least}. | ' +
        '{group} runs: {placed} member has a node, and it needs {least}. | ' +
        '{group} runs: {placed} members have a node, and it needs {least}.',
      runningBasic:
        '{group} runs: {placed} members have a node. It needs no minimum. | ' +
        '{group} runs: {placed} member has a node. It needs no minimum. | ' +
        '{group} runs: {placed} members have a node. It needs no minimum.',
      untried: 'The scheduler has not tried {group} yet.',
      finished:
        'All {have} pods of {group} have finished. | The pod of {group} has finished. | All {have} pods of {group} have finished.',
      blocked: '{member} fits no node.',
      sentBack:
        '{n} members that waited were rejected. | {n} member that waited was rejected. | {n} members that waited were rejected.',
      deadline:
        'In {time} the {n} waiting members are rejected. | In {time} the {n} waiting member is rejected. | ' +
        'In {time} the {n} waiting members are rejected.',
    },
    state: {
      running: 'Running',
      partly: 'Running in part',
      waiting: 'Waiting at Permit',
      rejected: 'Rejected',
      gated: 'Gated',
      tooFew: 'Too few pods',
      untried: 'Not tried yet',
      finished: 'Finished',
    },
    slot: {
      bound: 'bound',
      finished: 'finished',
      waiting: 'waiting at Permit',
      simulated: 'only simulated',
      sentBack: 'rejected while waiting',
      rejected: 'fits no node',
      held: 'rejected before any node was checked',
      gated: 'gated',
      untried: 'not tried',
      absent: 'no such pod',
    },
    stage: { passed: 'passed', rejected: 'rejected', waiting: 'waiting', undone: 'released again', notRun: 'not run' },
    members: 'Members',
    member: 'Member',
    result: 'Result',
    missing: '{n} do not exist yet',
    askNow: 'Would they fit now?',
    now: 'Now',
    nowHint: 'Each member is asked about alone, in the cluster as it is now. Nothing is scheduled.',
    wouldFit: 'would get {node}',
    wouldNot: 'would be rejected',
    where: 'Where members are',
    each: 'each needs {amount} {resource}',
    oneOf: 'all in one {key}',
    noTopology: 'no topology constraint',
    unlabelled: 'without the label',
    inDomain: '{n} members | {n} member | {n} members',
    freeOf: '{amount} free',
    taint: 'taint',
    tainted: 'This node has taints or is cordoned.',
    excluded: 'excluded',
    excludedBy: '{plugin} keeps the group off this node, whichever pods run there, so its room does not count.',
    share: {
      used: 'other pods',
      held: 'held by other groups',
      bound: 'this group, bound',
      waits: 'this group, waiting',
      simulated: 'this group, only simulated',
      free: 'free',
    },
    moreNodes: '{n} more nodes hold no member and have less free.',
    whyTitle: 'Why {name} fits no node',
    whyHeld: 'Why {name} was rejected',
    fit: 'What would make it fit?',
    nodes: 'Nodes',
    lacks: 'Missing',
    names: 'Names',
    short: '{amount} {resource} short',
    story: 'What happened',
    noStory: 'The scheduler has not tried a member yet.',
    times: '{n} times, last at {time}',
    earlier: '{n} earlier steps | {n} earlier step | {n} earlier steps',
    step: {
      held: '{names} rejected by {plugin} | rejected by {plugin} | {names} rejected by {plugin}',
      waited: '{names} wait at Permit | waits at Permit | {names} wait at Permit',
      noNode: '{names} fit no node | fits no node | {names} fit no node',
      preempts: '{names} preempt other pods | preempts other pods | {names} preempt other pods',
      sentBack: '{names} rejected while waiting | rejected while waiting | {names} rejected while waiting',
      scheduled: '{names} bound | bound | {names} bound',
      simulated: '{names} only simulated | only simulated | {names} only simulated',
      error: '{names} end with an error | ends with an error | {names} end with an error',
      timeout: '{name} times out',
      timeoutWhy: 'Its timeout releases its node, and the other waiting members are rejected with it.',
    },
    compare: 'Two ways to hold a group',
    differ: {
      tries: { what: 'Tries', coscheduling: 'one pod after the other', native: 'the group, in one cycle' },
      while: { what: 'While short', coscheduling: 'members keep their nodes', native: 'nothing is held' },
      until: {
        what: 'Gives up',
        coscheduling: 'at the timeout, or when too many are missing',
        native: 'when minCount is out of reach',
      },
      topology: { what: 'Topology', coscheduling: 'none', native: 'one key, such as a rack' },
      preempts: { what: 'Preempts', coscheduling: 'for one pod', native: 'for the whole group' },
    },
    noPodsTitle: 'No pods in this group',
    joinLabel: 'A pod joins by the label scheduling.x-k8s.io/pod-group: {name}, in the same namespace.',
    joinNative: 'A pod joins by the field spec.schedulingGroup.podGroupName: {name}, in the same namespace.',
  },
  quota: {
    emptyTitle: 'No elastic quotas',
    emptyBody:
      'An ElasticQuota guarantees its namespace a min, and lets it borrow up to a max what other namespaces leave ' +
      'unused. This board shows who borrows, and how borrowed resources are taken back. ' +
      'The preset enables CapacityScheduling and creates two teams that share two nodes.',
    namespace: 'Namespace',
    list: 'Elastic quotas',
    columns: 'used / min / max',
    filter: 'Filter quotas',
    more: '{n} more quotas. Filter to find them.',
    unlimited: 'no limit',
    ambiguous: 'This namespace has several quotas. The plugin uses only one of them.',
    bar: '{resource}: {used} used, min {min}, max {max}',
    standing: {
      over: '{amount} {resource} over its min',
      under: '{amount} {resource} under its min',
      even: 'at its min',
    },
    key: {
      within: 'used within min',
      borrowed: 'borrowed',
      unused: 'unused min',
      asks: 'asked by the pod',
      min: 'min',
      max: 'max',
    },
    pool: 'Who borrows',
    poolHint: '{resource} from the pool of unused min',
    usedOf: 'used of the {min} {resource} of all mins:',
    left: '{amount} left',
    overAll: '{amount} over',
    leaves: '{namespace} leaves {amount} {resource} unused',
    borrows: '{namespace} borrows {amount} {resource}',
    unused: '{amount} unused',
    over: '{amount} over',
    free: 'free',
    noPool: 'No namespace leaves {resource} unused, and none borrows.',
    noAccount: 'The plugin keeps no account of who lends to whom: what is unused is one pool.',
    say: {
      within: 'Every namespace uses at most its min of {resource}.',
      borrowing:
        '{n} namespaces borrow {amount} of the {unused} {resource} that others leave unused. | ' +
        '{n} namespace borrows {amount} of the {unused} {resource} that others leave unused. | ' +
        '{n} namespaces borrow {amount} of the {unused} {resource} that others leave unused.',
    },
    term: {
      min: '{asked} of {min} min',
      sum: '{asked} of {min}',
      within: '{amount} left',
      over: '{amount} over',
      mustGo: '{amount} too much',
    },
    step: {
      rules: 'The two rules',
      rulesHint: 'PreFilter, for the resource that decides',
      who: 'Who may be a victim',
      whoHint: 'PostFilter, on each node alone',
    },
    rule: {
      max: '{resource} of {namespace}: used + requested',
      maxNominated: '{resource} of {namespace}: used + nominated + requested',
      total: '{resource} of all quotas: used + requested',
      totalNominated: '{resource} of all quotas: used + nominated + requested',
    },
    limit: { max: 'max', total: 'sum of mins' },
    fork: {
      with: '{namespace} with the pod: {asked} of {min} {resource}',
      question: 'Is it over its own min?',
      no: 'No: its min covers the pod',
      noTakes: 'Victims are pods of namespaces over their min, whatever their priority.',
      yes: 'Yes: it would borrow',
      yesTakes: 'Victims are pods of its own namespace with lower priority.',
    },
    noPreemption: 'There was no dry run of preemption in this attempt.',
    dryRun: 'The dry run of the selected candidate',
    account: 'Used before and after',
    accountHint: 'After: as attempt {n} found it, once the victims were gone.',
    before: 'Before',
    after: 'After',
    notRecorded: 'not recorded',
    allTogether: 'all quotas',
    noFacts:
      'CapacityScheduling recorded nothing about this attempt: its namespace has no quota, or the plugin was not enabled.',
    decisions: 'Decisions about quotas',
    noDecisionTitle: 'No pod was rejected by a quota',
    noDecision: 'When a quota rejects a pod, or a pod takes back what others borrowed, the decision appears here.',
    preempts: 'preempts on {node}',
    counted: 'Bound pods',
    reported: 'In the status',
    countedHint: 'The plugin counts every bound pod. The status counts only running ones, so it follows later.',
  },
  numa: {
    title: 'NUMA nodes',
    counts: '{zones} NUMA nodes in all',
    emptyTitle: 'No NUMA nodes',
    emptyBody:
      'A node’s NodeResourceTopology says what each of its NUMA nodes has left. ' +
      'This board lays a pod’s containers in, and says for each node what was missing in which NUMA node. ' +
      'The preset enables NodeResourceTopologyMatch and creates a node with two NUMA nodes.',
    noDecision: 'When NodeResourceTopologyMatch aligns a pod or keeps it off a node, the decision appears here.',
    noSuchDecision: 'There is no decision about {name}.',
    notRun: 'NodeResourceTopologyMatch did not run in this attempt.',
    filter: 'Filter nodes',
    nodes: 'Nodes',
    cpuFree: 'CPU free in each NUMA node',
    more: '{n} more nodes. Filter to find them.',
    without:
      '{n} nodes have no NodeResourceTopology: they pass unchecked, and score 0. | ' +
      '{n} node has no NodeResourceTopology: it passes unchecked, and scores 0. | ' +
      '{n} nodes have no NodeResourceTopology: they pass unchecked, and score 0.',
    alignedOn: 'aligned on {n} of {of} nodes',
    zone: 'NUMA {n}',
    zoneHead: 'NUMA node',
    zones: '{n} NUMA nodes | {n} NUMA node | {n} NUMA nodes',
    distance: 'distance {here}, across {across}',
    scope: { container: 'container scope', pod: 'pod scope' },
    thePod: 'the pod',
    and: ' and ',
    partOf: { init: 'init container {name}', sidecar: 'sidecar {name}' },
    freeOf: '{zone}: {free} of {of} {resource} free',
    say: {
      noRecord: 'no decision about this node',
      aligned: 'every container gets a NUMA node',
      gets: '{part} on {zone}',
      onlyShort: '{part} needs {requested} {resource}; {zones}',
      has: '{zone} has {amount}',
      hasNone: '{zone} has none',
      lacks: '{part} fits no NUMA node; {zones}',
      lack: '{zone} lacks {what}',
      shortBy: '{amount} {resource}',
      stale: 'left out by the plugin’s cache: {reason}',
      unchecked: 'passes unchecked: the pod asks for nothing that must be aligned',
      uncheckedPolicy: 'passes unchecked: its policy is not single-numa-node',
      shared: 'passes: the pod is not Guaranteed, so it takes CPU and memory from any NUMA node',
      other: 'rejected before by {plugin}: {reason}',
      notEvaluated: 'not evaluated',
    },
    init: 'init, before the others',
    sidecar: 'sidecar, nothing is subtracted',
    noZone: 'fits none',
    short: '{amount} short',
    enough: 'enough',
    free: '{free} free',
    freeLeft: '{free} free, {left} left',
    aCell: '{amount} a cell',
    cell: { system: 'for the system', taken: 'taken', asks: 'asked', free: 'free', short: 'short' },
    missing: 'What was missing where',
    has: 'Has',
    needs: 'Needs',
    podRule: 'Pod scope: one NUMA node must have all that the pod needs.',
    containerRule:
      'Container scope: one NUMA node must have all that a container needs. Containers before it have taken their part.',
    scores: 'Scores',
    score: 'Score',
    scoreHint:
      'The plugin’s own score, before its weight. The lowest NUMA node above 0 counts, even where no container goes.',
    decisions: 'Decisions about NUMA nodes',
    goneAll: 'The NUMA nodes of this decision are gone',
    goneAllBody:
      'No NodeResourceTopology exists any more, so the board cannot draw where the containers go. ' +
      'The decision page still has all that the plugin compared.',
    gone: 'Node {name} has no NUMA nodes',
    goneBody: 'There is no NodeResourceTopology with this name.',
  },
}
