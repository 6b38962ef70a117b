// Configurations of actions and tiers to start from, whole documents with comments.

import { sessionSchedulers } from '@/kubernetes/schedulers'

export type Rules = (typeof sessionSchedulers)[number]
export const dialects: readonly Rules[] = sessionSchedulers

/** Plugins of a tier; what is set for one follows its name. */
type Tier = Readonly<Record<string, string>>
const plain = (...names: readonly string[]): Tier => Object.fromEntries(names.map((name) => [name, '']))

function document(comment: string, acting: string, ...tiers: readonly Tier[]): string {
  const lines = tiers.flatMap((tier) => [
    '- plugins:',
    ...Object.entries(tier).flatMap(([name, set]) => [`  - name: ${name}`, ...(set ? [`    ${set}`] : [])]),
  ])
  return [...comment.split('\n').map((line) => `# ${line}`), `actions: "${acting}"`, 'tiers:', ...lines, ''].join('\n')
}

const shares = plain('drf', 'predicates', 'proportion', 'nodeorder')
const guards = plain('priority', 'gang', 'conformance')

export const templates: Record<Rules, Record<string, string>> = {
  'kube-batch': {
    builtIn: document('What kube-batch runs without a file.', 'allocate, backfill', plain('priority', 'gang'), shares),
    shipped: document(
      'The file that kube-batch ships. Tier 1 decides alone who is evicted.',
      'reclaim, allocate, backfill, preempt',
      guards,
      shares
    ),
    fairReclaim: document(
      'Gang and conformance do not choose whom reclaim evicts, so proportion does: no queue\nfalls below what it deserves.',
      'allocate, preempt, reclaim, backfill',
      { priority: '', gang: 'enableReclaimable: false', conformance: 'enableReclaimable: false' },
      shares
    ),
  },
  volcano: {
    builtIn: document('What Volcano runs without a file.', 'enqueue, allocate, backfill', guards, {
      overcommit: '',
      ...shares,
    }),
    shipped: document(
      'The file that Volcano ships: gang and drf choose no victims, and binpack fills nodes.',
      'enqueue, allocate, backfill',
      { ...guards, gang: 'enablePreemptable: false' },
      { overcommit: '', ...shares, drf: 'enablePreemptable: false', binpack: '' }
    ),
    everything: document(
      'All actions. Lower overcommit-factor to let fewer jobs in.',
      'enqueue, allocate, preempt, reclaim, backfill',
      guards,
      {
        overcommit: 'arguments: {overcommit-factor: 1.2}',
        ...shares,
        nodeorder: 'arguments: {leastrequested.weight: 1, mostrequested.weight: 0}',
      }
    ),
  },
}

export const plugins = [
  'priority',
  'gang',
  'conformance',
  'drf',
  'proportion',
  'predicates',
  'nodeorder',
  'overcommit',
  'binpack',
] as const
export const actions = ['enqueue', 'allocate', 'preempt', 'reclaim', 'backfill'] as const
/** Those that only Volcano has. */
export const onlyVolcano: readonly string[] = ['enqueue', 'overcommit', 'binpack']
