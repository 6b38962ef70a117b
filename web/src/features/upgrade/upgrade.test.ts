import { beforeAll, describe, expect, it } from 'vitest'
import type { UpgradeAnswer, UpgradeCause, UpgradeDecision, UpgradePlugin } from '@/api/types'
import { loadDeferredMessages } from '@/i18n/deferred'
import { reportText } from './download'
import { configurationParts, difference, lineCounts } from './model/configuration'
import { knownCause } from './model/known'
import { causeShown, causesOf, nodesShown, podsByGate, scoreSides, share, verdictsOf } from './model/report'
import { chosenVersions } from './model/versions'
import { explained, gateChange, gateTag, sentence, what } from './phrases'

beforeAll(loadDeferredMessages)

const plugins: UpgradePlugin[] = [
  { name: 'TaintToleration', weight: 3 },
  { name: 'NodeResourcesBalancedAllocation', weight: 1 },
]
const decision = (rows: Record<string, number[]>, of: Partial<UpgradeDecision> = {}): UpgradeDecision => {
  const nodes = Object.keys(rows)
  const normalized = Object.values(rows)
  const totals = normalized.map(([a = 0, b = 0]) => 3 * a + b)
  const best = nodes.filter((_, i) => totals[i] === Math.max(...totals))
  return {
    pod: { namespace: 'default', name: 'api' },
    nodes: 3,
    feasible: nodes.length,
    best,
    bestCount: best.length,
    digest: 'd',
    scores: { plugins, nodes, raw: normalized, normalized, totals },
    ...of,
  }
}
const before = decision({ a: [100, 96], b: [100, 81], c: [0, 0] })
const after = decision({ a: [100, 73], b: [100, 76], c: [0, 0] })
const none: UpgradeDecision = {
  pod: { name: 'api' },
  nodes: 3,
  feasible: 0,
  digest: 'n',
  rejections: [
    {
      plugin: 'NodeResourcesFit',
      code: 'Unschedulable',
      reasons: ['Insufficient cpu'],
      count: 2,
      nodes: ['b', 'c'],
      digest: 'x',
    },
    { plugin: 'NodeVolumeLimits', code: 'Unschedulable', reasons: ['no driver'], count: 1, nodes: ['a'], digest: 'y' },
    { plugin: 'TaintToleration', code: 'Unschedulable', count: 1, nodes: ['a'], digest: 'z', further: true },
  ],
}
const cause = (of: Partial<UpgradeCause>): UpgradeCause => ({
  class: 'moved',
  point: 'score',
  plugins: ['NodeResourcesBalancedAllocation'],
  proven: true,
  pods: 2,
  example: { at: 0, pod: { name: 'api' }, before, after },
  listed: [],
  plugin: '',
  gate: '',
  text: '',
  ...of,
})
const answer = (of: Partial<UpgradeAnswer> = {}): UpgradeAnswer => ({
  apiVersion: 'v1',
  kind: 'UpgradeReport',
  judged: { cluster: 'the cluster', at: null, seconds: 1 },
  sentence: '',
  from: { minor: '1.35', version: 'v1.35.4' },
  to: { minor: '1.37', version: 'v1.37.2' },
  pods: 2418,
  same: 2418,
  tie: 0,
  moved: 0,
  lost: 0,
  gained: 0,
  reason: 0,
  causes: [],
  configuration: { gates: [], plugins: [], args: [] },
  ...of,
})

describe('the sentence', () => {
  it.each([
    [
      { moved: 71, lost: 3, gained: 5, tie: 96 },
      'From 1.35 to 1.37, 71 of 2,418 decisions go to another node, 3 pods fit no longer and 5 fit now.',
    ],
    [{ moved: 1 }, 'From 1.35 to 1.37, 1 of 2,418 decisions goes to another node.'],
    [{ lost: 1 }, 'From 1.35 to 1.37, 1 of 2,418 pods fits no longer.'],
    [
      { tie: 2, reason: 1 },
      'From 1.35 to 1.37, 2 of 2,418 decisions choose among other nodes of an equal total and 1 still fits no node, for another reason.',
    ],
    [{}, 'From 1.35 to 1.37, all 2,418 decisions are the same.'],
    [{ pods: 0 }, 'From 1.35 to 1.37, there is no decision to compare.'],
  ])('is %#', (of, said) => {
    expect(sentence(answer(of))).toBe(said)
  })
})

it('never calls a part all or none', () => {
  expect([share(0, 10), share(1, 100_000), share(99_999, 100_000), share(10, 10), share(71, 2418)]).toEqual([
    '0%',
    '0.1%',
    '99.9%',
    '100%',
    '2.9%',
  ])
})

it('shows what deserves a look first, unless another cause is chosen', () => {
  const of = answer({
    causes: [cause({ class: 'tie', pods: 9 }), cause({ class: 'lost', pods: 1 }), cause({ pods: 4 })],
  })
  expect(causesOf(of, '').map(({ index }) => index)).toEqual([0, 2, 1])
  expect(causeShown(causesOf(of, ''), '')?.index).toBe(1)
  expect(causeShown(causesOf(of, ''), '2')?.index).toBe(2)
  expect(causeShown(causesOf(of, 'tie'), '2')?.index).toBe(0)
  expect(causeShown([], '')).toBeUndefined()
})

it('adds the scores up, and marks what ranks the nodes differently', () => {
  expect(nodesShown(before, after)).toEqual(['a', 'b'])
  const [old, fresh] = scoreSides(before, after) ?? []
  expect(old?.rows).toEqual([
    { plugin: 'TaintToleration', weight: 3, values: [300, 300], differs: false },
    { plugin: 'NodeResourcesBalancedAllocation', weight: 1, values: [96, 81], differs: true },
  ])
  expect([old?.totals, old?.winner, old?.lead]).toEqual([[396, 381], 'a', 15])
  expect([fresh?.totals, fresh?.winner, fresh?.lead]).toEqual([[373, 376], 'b', 3])
  expect(scoreSides(before, none)).toBeUndefined()
  // Of a tie, the nodes that only one version has among the best.
  const tie = decision({ a: [1, 0], b: [1, 0], c: [0, 0] })
  expect(nodesShown(tie, decision({ a: [1, 0], b: [0, 0], c: [1, 0] }))).toEqual(['b', 'c'])
  expect(nodesShown(decision({ a: [2, 0], b: [1, 0] }), decision({ a: [2, 0], b: [1, 0] }))).toEqual(['a', 'b'])
})

it('lists the verdict about the node in question first', () => {
  expect(verdictsOf(none, before, ['a']).map(({ plugin, here, differs }) => [plugin, here, differs])).toEqual([
    ['NodeVolumeLimits', true, true],
    ['NodeResourcesFit', false, true],
  ])
  expect(verdictsOf(none, none).some(({ differs }) => differs)).toBe(false)
})

it('explains what is known, if the versions cross the change', () => {
  expect(knownCause(cause({}), '1.35', '1.36')).toBe('balanced')
  expect(knownCause(cause({}), '1.37', '1.35')).toBe('balanced')
  expect(knownCause(cause({}), '1.36', '1.37')).toBeUndefined()
  expect(knownCause(cause({ point: 'filter' }), '1.35', '1.37')).toBeUndefined()
  const volumes = cause({ plugins: ['VolumeBinding'] })
  expect(knownCause(volumes, '1.35', '1.37')).toBeUndefined()
  expect(knownCause({ ...volumes, gates: ['StorageCapacityScoring'] }, '1.35', '1.37')).toBe('storageScore')
  expect(knownCause(cause({ plugins: ['VolumeBinding', 'ImageLocality'] }), '1.35', '1.37')).toBeUndefined()
  expect(explained(cause({}), answer())).toContain('50 + (50 + with − without) / 2')
})

it('says what it does not know as data', () => {
  const status = (reason: string) => ({ code: 'Unschedulable', reasons: [reason] })
  expect(what(cause({ class: 'lost', point: 'filter', after: status('no driver') }))).toBe(
    'It rejects the node now: no driver.'
  )
  expect(what(cause({ class: 'reason', point: 'filter', before: status('x'), after: status('y') }))).toBe(
    'The message was “x” and is “y”.'
  )
  expect(what(cause({ plugins: [] }))).toBe('No single plugin differs.')
  expect(what(cause({ proven: false }))).toContain('does not explain all of it')
})

it('names what guards a cause', () => {
  const gates = [
    { name: 'G', before: null, after: { name: 'G', default: true, on: true, stage: 'BETA' } },
    {
      name: 'H',
      before: { name: 'H', default: false, on: false, stage: 'ALPHA' },
      after: { name: 'H', default: true, on: true },
    },
  ]
  const configuration = { gates, plugins: [], args: [] }
  expect(gateTag(cause({ gates: ['G'] }), configuration)?.text).toBe('beta, on')
  expect(gateTag(cause({}), configuration)).toMatchObject({ text: 'no gate', tone: 'warn' })
  expect(gateTag(cause({ gatesNotAsked: true }), configuration)?.text).toBe('gate not sought')
  expect(gates.map(gateChange)).toEqual(['new → beta, on', 'alpha, off → GA, on'])
  expect(podsByGate(answer({ causes: [cause({ gates: ['G'] }), cause({ gates: ['G', 'H'], pods: 3 })] }))).toEqual(
    new Map([
      ['G', 5],
      ['H', 3],
    ])
  )
})

it('lists what differs in the configuration', () => {
  expect(difference(['a', 'b', 'c'], ['b', 'a', 'c']).map(({ mark, text }) => mark + text)).toEqual([
    '-a',
    'b',
    '+a',
    'c',
  ])
  const parts = configurationParts({
    gates: [],
    plugins: [
      {
        profile: 'p',
        point: 'score',
        before: ['a', 'b', 'c', 'd'].map((name) => ({ name, weight: 1 })),
        after: ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, weight: 1 })),
      },
    ],
    args: [
      {
        profile: 'p',
        plugin: 'V',
        before: { kind: 'VArgs', old: 1, time: 600 },
        after: { kind: 'VArgs', time: 600, shape: [1] },
      },
    ],
  })
  expect(parts).toEqual([
    {
      profile: 'p',
      title: 'score',
      lines: [
        { mark: '', text: '', skipped: 3 },
        { mark: '', text: 'd: 1' },
        { mark: '+', text: 'e: 1' },
      ],
    },
    {
      profile: 'p',
      title: 'V args',
      lines: [
        { mark: '-', text: 'old: 1' },
        { mark: '+', text: 'shape: [1]' },
      ],
    },
  ])
  expect(lineCounts(parts)).toEqual({ added: 2, removed: 1 })
})

it('compares the newest version with one that is built', () => {
  const version = (minor: string, built = false) => ({ minor, built, own: minor === '1.37', command: '' })
  const all = [version('1.34'), version('1.35', true), version('1.36'), version('1.37', true)]
  expect(chosenVersions(all, '', '')).toEqual({ from: '1.35', to: '1.37' })
  expect(chosenVersions(all, '1.37', '')).toEqual({ from: '1.37', to: '1.36' })
  expect(chosenVersions(all, '1.20', '1.36')).toEqual({ from: '1.37', to: '1.36' })
  expect(chosenVersions([], '', '')).toEqual({ from: '', to: '' })
})

it('is a document with the same facts', () => {
  const of = answer({ same: 2416, moved: 2, causes: [cause({})] })
  expect(reportText(of, 'markdown')).toContain('| Other node | 2 | 0.1% |')
  expect(reportText(of, 'text')).toMatch(/^Upgrade report\n=+\n\nFrom 1\.35 to 1\.37, 2 of 2,418 decisions/)
  expect(JSON.parse(reportText(of, 'json'))).toEqual(of)
})
