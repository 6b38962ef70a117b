// The panel of a cell of the Filter matrix or the Score table. The Go package scheduler/explain
// renders the same lines, and scheduler/explain/testdata/cells.json and scores.json test both for
// the same words.

export const score = {
  cellPanel: {
    unknown: '{plugin} is not part of Kubernetes, so the simulator does not know what it does.',
    unknownExtender:
      '{plugin} is an extender, a service that the scheduler calls. The simulator does not know how it scores.',
    compared: 'What it compared',
    toNormalized: 'From raw to normalized',
    toWeighted: 'Times the weight',
    product: '{normalized} × {weight} = {weighted}',
    productExtender: '{raw} × {weight} = {weighted}',
    rounding: 'Divisions are rounded down unless a line says otherwise.',
    notKept: 'The inputs of this score are not kept. A record keeps them for the {n} nodes with the best totals.',
    notKeptPlugin: '{plugin} did not report its inputs, so the simulator cannot show how it arrived at {raw}.',
    notKeptOld: 'This record was made by a version that did not keep the inputs of scores.',
    passedOther:
      'It let {node} through. The recorder keeps what plugins compared for few nodes of a decision (here {n}), ' +
      'and {node} is not one of them.',
    passedUnknown: 'It let {node} through. The recorder keeps no comparison of {plugin} for a node that passed.',
    passedOld: 'It let {node} through. The version that made this record kept no comparison for a node that passed.',
    rejectedOnly:
      'The values that it compared are kept only for the rejected nodes that came closest, and {node} is not one of them.',
    skipped: 'It compared nothing: in PreFilter it returned Skip, because it has nothing to check for this pod.',
    notRun: 'It compared nothing: {plugin} had already rejected the node.',
    failed: 'It failed before it returned a result.',
    removal: 'If pods were removed',
    docs: 'Kubernetes documentation',
    which: 'Which cell of {plugin}',
    use: {
      holder: '{pod}: {amount}',
      holderNoted: '{pod}: {amount} ({notes})',
      others: '{n} other pod: {amount} | {n} other pods: {amount}',
      nominated: 'only nominated to the node',
      permit: 'waits for a permit',
      terminating: 'terminating',
      terminatingUntil: 'terminating, gone by {until}',
      described: 'kubectl describe shows {amount}: {why}',
      request: 'The pod requests {amount}: {derivation}',
      notKept: 'Which pods hold what is in use is kept only for the rejected nodes that came closest.',
    },
    comparison: {
      podsFull: 'pods: {inUse} of {allocatable}, no room for one more pod',
      resourceShort: '{resource}: {inUse} in use + {pod} requested = {total} of {allocatable}, {left} short',
      taint: 'Taint {taint}: not tolerated',
      cordoned: 'Cordoned: the pod does not tolerate {taint}',
      source: {
        nodeSelector: 'Node selector',
        nodeAffinity: 'Node affinity',
        addedAffinity: 'Node affinity that the plugin’s arguments add',
        nodeName: 'spec.nodeName',
        volume: 'Volume {volume}',
        storageClass: 'Storage class of claim {claim}',
        claim: 'Claim {claim}',
      },
      sourceAlternative: '{source}, alternative {n}',
      termEmpty: '{source}: an empty term, which no node meets',
      termMissing: '{source}: {requirement}, but the node has no label {key}',
      termOther: '{source}: {requirement}, but the node has {actual}',
      podTermOf: '{selector} ({namespaces})',
      selectsAll: 'every pod',
      selectsNone: 'no pod, as it has no labelSelector',
      inNamespace: 'namespace {names}',
      inNamespaces: 'namespaces {names}',
      inAllNamespaces: 'all namespaces',
      inSelectedNamespaces: 'namespaces with {selector}',
      inBothNamespaces: 'namespaces {names}, and those with {selector}',
      andMore: '{listed}, {n} more',
      podOn: '{pod} on {node}',
      affinityNoLabel: 'Affinity to {term}: the node has no label {key}',
      affinityUnmet: 'Affinity to {term}: no pod in {domain} matches{all}{match}',
      matchesAll: ' all {n} terms',
      matchNone: '; no pod on any node does',
      matchNoneOfThis: '; no pod on any node matches this one',
      matchPartly: '; {pod} on {node} matches this one, but not all',
      matchUnlabelled: '; {pod} does, but {node} has no label {key}',
      matchElsewhere: '; {pod} on {node} does, in {domain}',
      antiAffinityPod: 'Anti-affinity to {term}: {pod} matches, in {domain}',
      antiAffinitySome: 'Anti-affinity to {term}: a pod in {domain} matches',
      existingPod: 'Anti-affinity of {pod} to {term}: it matches this pod, in {domain}',
      existingSome: 'Anti-affinity of a running pod: it matches this pod, in {domain}',
      podAffinity: 'Affinity to {term}: pods in {domain} that match: {pods}',
      podFirst: 'Affinity to {term}: no pod on any node matches, and this pod does, so it may be the first in {domain}',
      podFirstUnlabelled:
        'Affinity to {term}: {pod} matches, but {node} has no label {key}, so it does not count. ' +
        'This pod matches, too, so it may be the first in {domain}',
      podFirstPartly:
        'Affinity to {term}: {pod} on {node} matches, but no pod that counts matches all {n} terms. ' +
        'This pod does, so it may be the first in {domain}',
      podFirstCounted:
        'Affinity to {term}: no pod that counts matches, and this pod does, so it may be the first in {domain}',
      podAntiAffinity: 'Anti-affinity to {term}: no pod in {domain} matches',
      podExisting: 'Anti-affinity of running pods: no pod in {domain} keeps this pod away',
      podApart: 'Anti-affinity to {term}: the node has no label {key}, so it shares no domain with any pod',
      spread:
        'Matching pods in {domain}: {matching} + {self} for this pod − the minimum {minimum} = {skew}; maxSkew is {maxSkew}',
      spreadPods:
        'Pods in {domain} that match {selector}: {matching} + {self} for this pod − the minimum {minimum} = {skew}; maxSkew is {maxSkew}',
      spreadNoLabel: 'The node has no label {key}, so it belongs to no domain',
      spreadElsewhere: 'On other nodes than this one: {n} of the {matching}',
      minimumNone: 'No domain is eligible, so the minimum counts as 0',
      minimumFew:
        '{n} domain is eligible, fewer than minDomains {minDomains}, so the minimum counts as 0 | ' +
        '{n} domains are eligible, fewer than minDomains {minDomains}, so the minimum counts as 0',
      minimumUnknown: 'The domain with the fewest has {minimum}',
      fewestOne: '{domains} has the fewest: {minimum}',
      fewestSeveral: '{domains} have the fewest: {minimum}',
      held: '{domain} cannot take the pod: rejected by {plugins} on {nodes}{ignored}',
      heldTaints: '; it counts, because nodeTaintsPolicy is Ignore',
      heldAffinity: '; it counts, because nodeAffinityPolicy is Ignore',
      portInUse: 'Host port {port}: in use',
      claimMissing: 'Claim {claim}: bound to {volume}, which does not exist',
      claimNone: 'Claim {claim}, {requested}: no volume that the node can reach is left for it',
      claimTooLarge: 'Claim {claim}, {requested}: storage class {class} can provision at most {largest} for the node',
      claimNoCapacity: 'Claim {claim}, {requested}: storage class {class} has no capacity for it on the node',
      devicesWanted: '{request}: wants {count}; matching devices: {matching}, in use: {inUse}{blocked}',
      devicesWantedAll: '{request}: wants all that match; matching devices: {matching}, in use: {inUse}{blocked}',
      devicesBlocked:
        '; enough are free, but they have taints, share counters or capacity with others, or their pool is incomplete',
      devicesTogether: 'Each request could be met alone, but not all of them together',
      wholePod: 'The pod as a whole',
      notAligned: '{part}: no NUMA node has all that it needs',
      volumeInUse: '{volume}: in use by a pod on another node',
      removal: {
        passes: 'Removing the pods here would make room: without them, {plugin} lets the node through.',
        rejects: 'Removing the pods here would not make room: {plugin} rejects the node without them, too.',
        devices: 'Devices in use become free when the pods whose claims hold them are gone.',
        ineligible: {
          never: 'Preemption evicts no pod, because the pod’s preemptionPolicy is Never.',
          victimsTerminating:
            'Preemption evicts no further pod while those that it evicts terminate on the nominated node.',
          other: 'Preemption evicts no pod, because the pod is not eligible for it.',
        },
        chosen: 'Preemption makes room here by evicting {n} pod. | Preemption makes room here by evicting {n} pods.',
        candidate:
          'Preemption could make room here by evicting {n} pod. | Preemption could make room here by evicting {n} pods.',
        removedByExtender:
          'Preemption could make room here by evicting {n} pod, but an extender removed the node. | ' +
          'Preemption could make room here by evicting {n} pods, but an extender removed the node.',
        noVictims: {
          noPods: 'Preemption may evict no pod here: none runs on the node.',
          nobodyLower: 'Preemption may evict no pod here: none has a lower priority.',
          nobodyMay: 'Preemption may evict no pod here: none may give way.',
          notEnough:
            'Preemption finds no room here: in its dry run, the node is rejected without the pods that it may evict, too ({reason}).',
          failed: 'The dry run of preemption failed here ({reason}).',
        },
        notTried: 'Preemption did not try this node: {plugin} returned {status}.',
        enough: 'Preemption did not try this node: it had found enough candidates.',
        reasonOf: '{plugin}: {reason}',
        noReason: 'it gave no reason',
      },
      resource: '{resource}: {inUse} in use + {pod} requested = {total} of {allocatable}',
      tolerated: 'Taint {taint}: tolerated by {toleration}',
      term: '{requirement}: met by {actual}',
      termAbsent: '{requirement}: met, because the node has no label {key}',
      portFree: 'Host port {port}: free',
      claimBound: 'Claim {claim}: bound to {volume}, which the node can reach',
      claimFound: 'Claim {claim}, {requested}: can be bound to {volume}',
      claimProvisioned: 'Claim {claim}, {requested}: storage class {class} can provision a volume',
      claimProvisionedUpTo:
        'Claim {claim}, {requested}: storage class {class} can provision a volume of up to {largest}',
      devices: '{request}: wants {count}; matching devices: {matching}, in use: {inUse}; would get {devices}',
      devicesAll: '{request}: wants all that match; matching devices: {matching}, in use: {inUse}; would get {devices}',
      limit: '{driver}: volumes attached {inUse} + {requested} for this pod = {total}; the limit is {limit}',
      limitNone: '{driver}: volumes of this pod {requested}; the driver names no limit for the node',
      driverMissing: '{driver}: the driver is not on the node',
      volumeFree: '{volume}: not in use by another pod',
      volumeInUseBy: '{volume}: in use by {pod}',
      featureDeclared: '{feature}: the node declares it',
      featureMissing: '{feature}: the node does not declare it',
      aligned: '{part}: gets everything from NUMA node {zone}',
      zoneShort: 'NUMA node {zone}: {requested} {resource} requested, {available} available',
      zoneAbsent: 'NUMA node {zone}: has no {resource}',
    },
    nothing: {
      any: 'Nothing on {node} needed a comparison.',
      NodeName: 'The pod names no node in spec.nodeName, so every node passes.',
      NodeUnschedulable: '{node} is not cordoned.',
      TaintToleration: '{node} has no NoSchedule or NoExecute taint.',
      VolumeZone: '{node} has no label of a zone or a region.',
      InterPodAffinity: 'The pod requires no affinity or anti-affinity, and no running pod has anti-affinity to it.',
      NodeVolumeLimits: 'The pod has no volume that counts against a limit.',
    },
    filter: {
      NodeName: 'Rejects every node but the one that the pod names in spec.nodeName.',
      NodeUnschedulable: 'Rejects cordoned nodes, unless the pod tolerates the taint node.kubernetes.io/unschedulable.',
      TaintToleration: 'Rejects nodes with a NoSchedule or NoExecute taint that the pod does not tolerate.',
      NodeAffinity: 'Rejects nodes that do not match the pod’s node selector and its required node affinity.',
      NodePorts: 'Rejects nodes on which a host port that the pod needs is in use.',
      NodeResourcesFit:
        'Rejects nodes whose allocatable resources, less what their pods request, do not cover what the pod requests.',
      VolumeRestrictions:
        'Rejects nodes on which the pod would violate the rules of a volume, such as a ReadWriteOncePod claim that is in use.',
      NodeVolumeLimits: 'Rejects nodes to which the CSI driver could not attach the pod’s volumes as well.',
      VolumeBinding:
        'Rejects nodes from which the pod’s volumes cannot be reached, or on which its claims cannot be bound.',
      VolumeZone: 'Rejects nodes outside the zones and regions of the pod’s volumes.',
      PodTopologySpread:
        'Rejects nodes whose domain would have more matching pods than the topology spread constraints allow.',
      InterPodAffinity:
        'Rejects nodes that violate the required affinity or anti-affinity between this pod and running pods.',
      DynamicResources: 'Rejects nodes that cannot provide the devices that the pod’s resource claims request.',
      NodeDeclaredFeatures: 'Rejects nodes that do not declare a feature that the pod needs.',
      CELFilter: 'Rejects nodes for which the CEL expression in the plugin’s arguments is not true.',
    },
    score: {
      NodeResourcesFit:
        'Compares what is requested on the node, this pod included, with what the node can allocate. ' +
        'The scoring strategy says whether emptier or fuller nodes are better.',
      NodeResourcesBalancedAllocation:
        'Prefers nodes on which the pod brings the shares of CPU and memory in use closer together.',
      ImageLocality:
        'Prefers nodes that already have the pod’s container images. An image counts by its size and by how many nodes have it.',
      NodeAffinity: 'Adds up the weights of the preferred node affinity terms that the node meets.',
      TaintToleration: 'Counts the PreferNoSchedule taints of the node that the pod does not tolerate.',
      PodTopologySpread:
        'Counts the matching pods in the node’s domains, by the spread constraints that may be violated (ScheduleAnyway).',
      InterPodAffinity:
        'Adds up the weights of the preferred affinity and anti-affinity between this pod and the pods in the node’s domains.',
      VolumeBinding:
        'Compares the storage that the pod’s claims request with the capacity that is available to the node.',
      DynamicResources:
        'Prefers nodes on which the earlier alternatives of the pod’s requests for devices are available.',
      CELScore: 'Scores nodes by the CEL expression in the plugin’s arguments.',
    },
  },
  score: {
    step: {
      defaults:
        '{resource}: containers without a request count as {each} each here, {containers} of them in {pods}, ' +
        'which adds {amount}; kubectl describe shows {described} in use',
      ownDefaults:
        '{resource}: containers of this pod without a request count as {each} each here, {containers} of them, which adds {amount}',
      least:
        '{resource}: {inUse} in use + {pod} requested = {total}; 100 × ({allocatable} − {total}) / {allocatable} = {score}',
      leastFull:
        '{resource}: {inUse} in use + {pod} requested = {total}, more than the {allocatable} allocatable, so 0',
      most: '{resource}: {inUse} in use + {pod} requested = {total}; 100 × {total} / {allocatable} = {score}',
      mostFull:
        '{resource}: {inUse} in use + {pod} requested = {total}, more than the {allocatable} allocatable, so 100',
      shape:
        '{resource}: {inUse} in use + {pod} requested = {total}; ' +
        '100 × {total} / {allocatable} = {utilization}% used, for which the shape gives {score}',
      shapeFull:
        '{resource}: {inUse} in use + {pod} requested = {total}, more than the {allocatable} allocatable; ' +
        'for 100% used, the shape gives {score}',
      shapeZero:
        '{resource}: {inUse} in use + {pod} requested = {total} of {allocatable}, for which the shape gives 0, so it does not count',
      shapePoints: 'Shape: {points}',
      notOnNode: '{resource}: does not count, because the node has none',
      notRequested: '{resource}: does not count, because the pod requests none',
      mean: 'Mean: {terms} = {raw}',
      meanDown: 'Mean, rounded down: {terms} = {raw}',
      meanOfOne: 'Nothing else counts on this node, so the raw score is {raw}.',
      meanRounded: 'Mean, rounded: {terms} = {raw}',
      nothingCounts: 'Nothing counts on this node, so the raw score is 0.',
      share: '{resource}: {inUse} of {allocatable} in use = {without}%; {total} with the pod = {with}%',
      balanceWithout: 'Without the pod: standard deviation {deviation}; 100 × (1 − {deviation}) = {score}',
      balanceWith: 'With the pod: standard deviation {deviation}; 100 × (1 − {deviation}) = {score}',
      balance: 'Balance gained or lost: 50 + (50 + {with} − {without}) / 2 = {raw}',
      image: '{image}: {size} × {nodes} / {clusterNodes} nodes that have it = {score}',
      imageTimes:
        '{image}, in {times} containers: {times} × {size} × {nodes} / {clusterNodes} nodes that have it = {score}',
      imageNone: 'The node has none of the pod’s images, so the raw score is 0.',
      imageLow: '{sum} is not above the lower bound of 23 Mi, so the raw score is 0.',
      imageHigh: '{sum} is not below the upper bound of {containers} × 1000 Mi, so the raw score is 100.',
      imageRaw: '100 × ({sum} − 23 Mi) / ({containers} × 1000 Mi − 23 Mi) = {raw}',
      preferenceMet: '{term}: met, {weight}',
      preferenceUnmet: '{term}: not met, 0',
      addedMet: '{term}, added by the plugin’s arguments: met, {weight}',
      addedUnmet: '{term}, added by the plugin’s arguments: not met, 0',
      taint: '{taint}: not tolerated, 1',
      taintNone: 'The node has no PreferNoSchedule taint that the pod does not tolerate, so the raw score is 0.',
      spreadSystem: 'The pod has no constraints of its own. These are the defaults that are built into Kubernetes.',
      spreadDefault: 'The pod has no constraints of its own. These are the defaults of the plugin’s arguments.',
      spread: '{domain}: matching pods {matching} × ln(domains {domains} + 2) + (maxSkew {maxSkew} − 1) = {score}',
      spreadUnlabeled: '{key}: the node lacks the label, so it adds 0',
      spreadIgnored: 'The node lacks the label of a constraint, so its raw score is 0.',
      sum: 'Sum: {terms} = {raw}',
      rounded: 'Rounded: {terms} becomes {raw}',
      sumRounded: 'Sum, rounded: {terms} = {raw}',
      podTerm: '{pods} × {weight} = {score}: pods in {domain} that match {selector}',
      existingNear: '{pods} × {weight} = {score}: pods in {domain} that prefer to be near pods like this one',
      existingApart: '{pods} × {weight} = {score}: pods in {domain} that prefer to be apart from pods like this one',
      existingHard:
        '{pods} × {weight} = {score}: pods in {domain} that require affinity to pods like this one (hardPodAffinityWeight)',
      podDomain: '{domain}: {score}',
      podDomainsOnly: 'The terms are not listed, because there were too many pods to count them one by one.',
      unlabeled: '{key}: does not count, because the node lacks the label',
      class: '{class}: 100 × {requested} / {capacity} = {utilization}% used, for which the shape gives {score}',
      classFull: '{class}: {requested} of {capacity}; for 100% used, the shape gives {score}',
      device: '{request}: {alternative} is alternative {n}, {score}',
      deviceNone: '{request}: nothing is allocated, 0',
      noAlternatives: 'No request of the pod for devices has alternatives, so the raw score is 0.',
      normNone: 'Not normalized: {raw} stays {normalized}',
      normHighest:
        'More is better, and the highest raw score, {highest}, becomes 100: 100 × {raw} / {highest} = {normalized}',
      normHighestZero: 'The raw score is 0 on every node, so all stay 0.',
      normLowest:
        'Fewer is better: 0 becomes 100, and the highest raw score, {highest}, becomes 0: 100 − 100 × {raw} / {highest} = {normalized}',
      normLowestZero: 'Fewer is better: the raw score is 0 on every node, so all become 100.',
      normRange:
        'More is better: the lowest raw score, {lowest}, becomes 0, and the highest, {highest}, becomes 100: ' +
        '100 × ({raw} − {less}) / ({most} − {less}) = {normalized}',
      normCutOff:
        'kube-scheduler computes this in floating point. The result is just below {next}, and the fraction is cut off.',
      normRangeSame: 'The raw score is {raw} on every node, so all become 0.',
      normSpread:
        'Fewer is better: the lowest raw score, {lowest}, becomes 100: 100 × ({highest} + {lowest} − {raw}) / {highest} = {normalized}',
      normSpreadZero: 'Fewer is better: the raw score is 0 on every node, so all become 100.',
      normIgnored: 'The node lacks the label of a constraint, so its score becomes 0.',
      normSpreadSome:
        'Fewer is better, and nodes that lack the label of a constraint become 0: {raw} becomes {normalized}',
      normOwn: 'The plugin has a rule of its own: {raw} becomes {normalized}',
      normAll: 'Over all nodes: {examples}',
    },
  },
}

// Search over decisions, comparisons of decisions, and ranges of time.

export const search = {
  search: {
    placeholder: 'Search by pod, node, owner, plugin or reason',
    kept: '{n} kept | {n} kept | {n} kept',
    by: {
      rejectedOn: 'Rejected node',
      outcome: 'Outcome',
      plugin: 'Rejecting plugin',
      reason: 'Reason',
      namespace: 'Namespace',
      owner: 'Owner',
      node: 'Node selected or nominated',
      profile: 'Profile',
      revision: 'Configuration',
    },
    revision: 'Revision {n}',
    filters: 'Filters',
    fewer: 'Show fewer',
    others: '{n} more, less frequent',
    remove: 'Remove the filter {filter}',
    without: 'Remove {filter}',
    noMatchBody:
      'The search covers all {n} decisions that the simulator keeps. The oldest is from {since}. | ' +
      'The search covers the one decision that the simulator keeps, from {since}. | ' +
      'The search covers all {n} decisions that the simulator keeps. The oldest is from {since}.',
    loaded:
      '{loaded} of {n} matching decisions loaded. | {loaded} of {n} matching decision loaded. | {loaded} of {n} matching decisions loaded.',
    read: '{found} found in the newest {n} decisions. | {found} found in the newest decision. | {found} found in the newest {n} decisions.',
    readOn: 'Search older ones',
    readHow: 'The simulator reads whole decisions for this search, a part of them at a time.',
    noneYet: 'Nothing found yet | No match in the newest decision | No match in the newest {n} decisions',
    sortedLoaded: 'Sorting covers only the loaded decisions.',
    fresh: 'No new decisions | Show {n} new decision | Show {n} new decisions',
    time: 'Time range',
    allTime: 'All kept',
    lastMinutes: 'Last {n} minutes',
    lastHours: 'Last {n} hours | Last hour | Last {n} hours',
    fromTo: 'From … to …',
    from: 'From',
    until: 'To',
    compareTwo: 'Compare',
    compareHow: 'Select two decisions in the list to compare them.',
    pick: 'Choose the decision to compare with.',
    compareTitle: 'Compare decisions',
    choose: 'Choose another',
    chooseOther: 'Choose another decision to compare with',
    withAttempt: 'With attempt {n}',
    withNext: 'With the next pod of {owner}',
    withPrevious: 'With the previous pod of {owner}',
    withOwner: 'With another pod of {owner}…',
    withAny: 'With any decision…',
    thisName: 'this name',
    sameDecision: 'Both sides show the same decision.',
    facts: 'Facts of both decisions',
    differs: 'differs',
    differences: 'Differences',
    rows: 'Rows',
    onlyDifferent: 'Only differences',
    answers: 'Other extension points',
    plugin: 'Plugin',
    node: 'Node',
    change: 'Change by plugin',
    notScored: 'not scored',
    noScores: 'Neither decision scored nodes.',
    noDifferences: 'No differences here.',
  },
}
