// Configurations of actions and tiers to start from, whole documents with comments.

export type Rules = 'kube-batch' | 'volcano'
export const dialects: readonly Rules[] = ['kube-batch', 'volcano']

const kubeBatchTiers = `- plugins:
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
`

export const templates: Record<Rules, Record<string, string>> = {
  'kube-batch': {
    builtIn: `# What kube-batch runs without a file.
actions: "allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
${kubeBatchTiers}`,
    shipped: `# The file that kube-batch ships. Tier 1 decides alone who is evicted.
actions: "reclaim, allocate, backfill, preempt"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
${kubeBatchTiers}`,
    fairReclaim: `# Gang and conformance do not choose whom reclaim evicts, so proportion does: no queue
# falls below what it deserves.
actions: "allocate, preempt, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enableReclaimable: false
  - name: conformance
    enableReclaimable: false
${kubeBatchTiers}`,
  },
  volcano: {
    builtIn: `# What Volcano runs without a file.
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
`,
    shipped: `# The file that Volcano ships: gang and drf choose no victims, and binpack fills nodes.
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
`,
    everything: `# All actions. Lower overcommit-factor to let fewer jobs in.
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
    arguments: {overcommit-factor: 1.2}
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
    arguments: {leastrequested.weight: 1, mostrequested.weight: 0}
`,
  },
}

export const plugins = ['priority', 'gang', 'conformance', 'drf', 'proportion', 'predicates', 'nodeorder', 'overcommit', 'binpack'] as const
export const actions = ['enqueue', 'allocate', 'preempt', 'reclaim', 'backfill'] as const
/** Those that only Volcano has. */
export const onlyVolcano: readonly string[] = ['enqueue', 'overcommit', 'binpack']
