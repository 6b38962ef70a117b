// The page Upgrade report.

export const upgrade = {
  upgrade: {
    title: 'Upgrade report',
    emptyTitle: 'What would another version of Kubernetes decide?',
    emptyBody:
      'The kube-schedulers of both versions decide about every pod in the same state. The report counts the decisions ' +
      'that differ and names the plugin and the feature gate behind each difference. Nothing in the cluster changes.',
    from: 'From',
    to: 'To',
    swap: 'Swap the versions',
    choose: 'Compare a file…',
    drop: 'A recording, an export or a manifest: drop it here or choose it',
    configuration: 'Configuration',
    configurations: { default: 'each version’s default', current: 'the one in force here' },
    ask: 'Compare this cluster',
    again: 'Compare again',
    sending: 'Sending the file: {percent}%',
    sameVersion: 'Choose two different versions.',
    notBuilt: 'not built',
    built: 'built',
    own: 'the version of this simulator',
    versions: 'Versions',
    version: 'Version',
    scheduler: 'Its scheduler',
    build: 'How to build it',
    buildNote: 'Run this in the directory of the source. It takes up to ten minutes, once.',
    buildFirst:
      'The scheduler of Kubernetes {version} is not built. Run this in the directory of the source. It takes up to ten ' +
      'minutes, once.',
    check: 'Check again',
    starting: 'Starting both schedulers…',
    deciding: 'Both versions have decided about {n} of {of} pods.',
    gating: 'Looking for the feature gates behind the differences: {n} of {of} causes.',
    progress: 'Progress of the comparison',
    canceled: 'The comparison was canceled after {n} decisions.',
    failed: 'The comparison failed',
    noAnswer: 'There is no answer yet about {from} and {to}.',
    asked: 'Comparing {from} with {to}…',
    about: '{source}, {time}.',
    thisCluster: 'This cluster',
    how: 'Each pod was decided by both versions in the same state.',
    took: '{time}',
    report: 'Report',
    formats: { markdown: 'Markdown', text: 'Text', json: 'JSON' },
    say: {
      between: 'From {from} to {to}, {parts}.',
      and: ' and ',
      of: '{n} of {of}',
      none: 'there is no decision to compare',
      same: 'all {of} decisions are the same | the decision is the same | all {of} decisions are the same',
      moved:
        '{count} decisions go to another node | {count} decisions goes to another node | {count} decisions go to another node',
      lost: '{count} pods fit no longer | {count} pods fits no longer | {count} pods fit no longer',
      lostToo: '{count} pods fit no longer | {count} pod fits no longer | {count} pods fit no longer',
      gained: '{count} pods fit now | {count} pods fits now | {count} pods fit now',
      gainedToo: '{count} fit now | {count} fits now | {count} fit now',
      tie:
        '{count} decisions choose among other nodes of an equal total | ' +
        '{count} decisions chooses among other nodes of an equal total | ' +
        '{count} decisions choose among other nodes of an equal total',
      tieToo:
        '{count} choose among other nodes of an equal total | {count} chooses among other nodes of an equal total | ' +
        '{count} choose among other nodes of an equal total',
      reason:
        '{count} pods still fit no node, for another reason | ' +
        '{count} pods still fits no node, for another reason | ' +
        '{count} pods still fit no node, for another reason',
      reasonToo:
        '{count} still fit no node, for another reason | ' +
        '{count} still fits no node, for another reason | ' +
        '{count} still fit no node, for another reason',
    },
    changes: 'What changes',
    decisions: 'decisions',
    class: {
      same: 'Same',
      tie: 'Other nodes of equal total',
      moved: 'Other node',
      lost: 'Fits no longer',
      gained: 'Fits now',
      reason: 'No node, other reason',
    },
    classHint: {
      same: 'Both versions choose among the same nodes, or reject the pod for the same reasons.',
      tie: 'The best nodes differ, but the versions share at least one of them. The scheduler picks one at random.',
      moved: 'The versions share no best node.',
      lost: 'The pod fits in the first version only. Look at these before you upgrade.',
      gained: 'The pod fits in the second version only.',
      reason: 'The pod fits in neither version, for other reasons, or preemption evicts other pods.',
    },
    allClasses: 'All that differ',
    causes: 'Causes',
    causesOf: 'of the {n} that differ | of the one that differs | of the {n} that differ',
    causesOfClass: 'of the {n} decisions | of the decision | of the {n} decisions',
    noCauses: 'No decision differs.',
    noCausesOfClass: 'No decision is of this class.',
    proven: 'proven',
    notProven: 'not proven',
    provenNote:
      'A cause is proven if the second version’s decision becomes the first one’s with the first one’s answers of ' +
      'these plugins. A feature gate is named if the decision becomes the first one’s with that gate as the first version ' +
      'has it.',
    noGate: 'no gate',
    noGateHint:
      'No feature gate explains it, or one that cannot be changed any more. An emulated version would not show this.',
    gatesNotAsked: 'gate not sought',
    gatesNotAskedHint: 'There are many causes, and gates were sought behind those with more pods.',
    noPlugin: 'No single plugin',
    what: {
      none: 'No single plugin differs.',
      lost: 'It rejects the node now.',
      lostWords: 'It rejects the node now: {after}.',
      gained: 'It no longer rejects the node.',
      gainedWords: 'It no longer rejects the node for {before}.',
      score: 'It scores differently.',
      scores: 'They score differently, and only together make the difference.',
      scoreSome: 'The scores differ, which does not explain all of it.',
      evicts: 'It chooses other pods to evict.',
      words: 'The message was “{before}” and is “{after}”.',
      filter: 'It rejects other nodes.',
      preFilter: 'PreFilter lets other nodes be filtered.',
    },
    known: {
      balanced:
        'Since 1.36 the score says what the pod does to the balance of the node: 50 + (50 + with − without) / 2, of the ' +
        'balance with and without the pod. Before, it was the balance with the pod. No feature gate guards the formula.',
      imageVolumes:
        'ImageLocality counts image volumes: since 1.36 as images that the node has, and since 1.37 also among the images ' +
        'that the pod needs. No feature gate guards it.',
      storageScore:
        'StorageCapacityScoring is on by default since 1.37: VolumeBinding scores nodes by the free storage capacity for a ' +
        'volume that is provisioned once the pod has a node.',
      driverMissing:
        'VolumeLimitScaling is on by default since 1.37: NodeVolumeLimits rejects a node that lacks the CSI driver of a ' +
        'volume, if the CSIDriver has preventPodSchedulingIfMissing.',
      tolerationOperators:
        'TaintTolerationComparisonOperators exists since 1.35: a toleration can compare numbers with Gt and Lt. It is off by default.',
      extendedResource:
        'DRAExtendedResource is on by default since 1.36: devices of a DeviceClass can serve a request for an extended resource.',
      deviceTaints:
        'DRADeviceTaints is on by default since 1.36: a device with a taint needs a toleration in the claim.',
      partitions:
        'DRAPartitionableDevices is on by default since 1.36: devices that are parts of one device share its counters.',
      consumable:
        'DRAConsumableCapacity is on by default since 1.36: several claims can share a device, each with a part of its capacity.',
      declaredFeatures:
        'The plugin NodeDeclaredFeatures is on by default since 1.36: it rejects nodes whose kubelet does not declare a ' +
        'feature that the pod needs.',
    },
    example: 'Example',
    exampleOf: 'one of {n} decisions | the decision | one of {n} decisions',
    feasibleBoth: '{n} of {of} nodes feasible in both',
    feasibleEach: '{before} of {of} nodes feasible, then {after}',
    previous: 'Previous cause',
    next: 'Next cause',
    chose: 'chooses {node}',
    choseOne: 'chooses one of {n} nodes',
    choseNone: 'fits no node',
    scores: 'Score, weighted',
    weight: 'Weight',
    total: 'Total',
    notScored: 'not scored',
    unscored: {
      onlyFeasible: 'It is the only feasible node, so no plugin scored it.',
      nominated: 'It is the nominated node of the pod, so no plugin scored it.',
      noScores: 'No plugin scores.',
    },
    verdictNodes: '{n} nodes | {n} node | {n} nodes',
    here: 'the node in question',
    noVerdicts: 'No plugin rejects a node.',
    bestNodes: 'Best nodes',
    nominates: 'Preemption nominates {node} and evicts {pods}.',
    noPreemption: 'Preemption finds no node.',
    notInExample: 'Choose a class with differences to see an example.',
    settings: 'Configuration',
    effective: 'in effect',
    noSettings: 'Plugins, weights and arguments are the same.',
    unchanged: '{n} more, unchanged',
    gates: 'Feature gates',
    gatesDiffer: '{n} differ | {n} differs | {n} differ',
    noGates: 'No feature gate differs.',
    gate: {
      off: 'off',
      new: 'new',
      gone: 'gone',
      on: 'on',
      alpha: 'alpha',
      beta: 'beta',
      ga: 'GA',
      deprecated: 'deprecated',
    },
    gateChange: '{before} → {after}',
    otherGates:
      '{n} more, without effect on a decision here | ' +
      '{n} more, without effect on a decision here | ' +
      '{n} more, without effect on a decision here',
    notJudged: 'Not judged',
    others: 'Others of this cause',
    othersFirst: 'the first {n}',
    pod: 'Pod',
    noNode: 'no node',
    ignored: 'Not read by a version',
    ignoredBy: 'Ignored by {version}',
    ignoredNone: 'Both versions read all of the objects.',
    ignoredKind: 'the kind is unknown',
    ignoredReadAs: 'it is read as {version} only',
    ignoredTimes: '{n} times, such as in {example} | once, in {example} | {n} times, such as in {example}',
    ignoredFurther: '{n} more, not listed',
    document: {
      class: 'Class',
      count: 'Decisions',
      share: 'Share',
      gate: 'Feature gate',
      cause: 'Cause',
      example: 'Example',
    },
  },
}
