// How a plugin came to its score for a node: the arithmetic from the recorded inputs to the raw
// score, and from the raw scores of all nodes to the normalized one. The Go package
// scheduler/explain computes the same steps, and scheduler/explain/testdata/scores.json tests
// both for the same numbers and words.

import type { PluginScoreFacts, Score } from '@/api/types'
import { amountOf, trim } from '@/kubernetes/quantity'

/** One line of arithmetic. Its sentence is the message `score.step.<kind>`. */
export interface Step {
  kind: string
  values: Record<string, string>
}

export interface ScoreSteps {
  /** From the inputs to the raw score; empty if the inputs are not kept. */
  arithmetic: Step[]
  raw: number | undefined
  /** From the raw scores to the normalized one; empty in records of earlier versions. */
  normalization: Step[]
  /** The result of the normalization; undefined if the plugin’s rule is not known. */
  normalized: number | undefined
}

const maxScore = 100

/** undefined if the plugin did not score the node. */
export function scoreSteps(score: Score | undefined, plugin: string, node: string): ScoreSteps | undefined {
  const column = score?.plugins.findIndex((p) => p.name === plugin) ?? -1
  const row = score?.nodes.indexOf(node) ?? -1
  if (!score || column < 0 || row < 0) return undefined
  const facts = score.facts?.plugins.find((f) => f.plugin === plugin)
  const at = score.facts?.nodes.indexOf(node) ?? -1
  const arithmetic = new Work(at)
  const raw = facts && at >= 0 ? rawOf(facts, arithmetic) : undefined
  const normalization = new Work(at)
  const normalized = normalize(score, column, row, facts, normalization)
  return { arithmetic: arithmetic.steps, raw, normalization: normalization.steps, normalized }
}

/** Gathers steps about the node at a position of the facts. */
class Work {
  readonly steps: Step[] = []
  constructor(readonly at: number) {}
  say(kind: string, values: Record<string, string> = {}) {
    this.steps.push({ kind, values })
  }
  /** The value of the node in a list that has one for each. */
  of(list: readonly number[]): number {
    return list[this.at] ?? 0
  }
  sum(terms: string[], total: number): number {
    if (terms.length !== 1) this.say('sum', { terms: terms.join(' + '), raw: whole(total) })
    return total
  }
}

function rawOf(facts: PluginScoreFacts, work: Work): number | undefined {
  if (facts.resources)
    return facts.resources.strategy === 'BalancedAllocation'
      ? balance(facts.resources, work)
      : resources(facts.resources, work)
  if (facts.images) return images(facts.images, work)
  if (facts.preferences) return preferences(facts.preferences, work)
  if (facts.taints) return taints(facts.taints, work)
  if (facts.spread) return spread(facts.spread, work)
  if (facts.podTerms) return podTerms(facts.podTerms, work)
  if (facts.volumes) return volumes(facts.volumes, work)
  if (facts.devices) return devices(facts.devices, work)
  return undefined
}

const whole = (n: number) => (n < 0 ? `−${trim(-n, 0)}` : trim(n, 0))
/** In parentheses if negative. */
const operand = (n: number) => (n < 0 ? `(${whole(n)})` : whole(n))
/**
 * a × b ÷ c of whole numbers, rounded towards 0, also where a product exceeds what a number holds
 * exactly.
 */
const ratio = (a: number, b: number, c: number) => Number((BigInt(a) * BigInt(b)) / BigInt(c))
/** Rounds half up, and drops trailing zeros. */
const decimal = (value: number, decimals: number) => String(Math.floor(value * 10 ** decimals + 0.5) / 10 ** decimals)
const ofBytes = (n: number) => amountOf('memory', n)

type Resources = NonNullable<PluginScoreFacts['resources']>
type Resource = Resources['resources'][number]
type Shape = NonNullable<Resources['shape']>

function resources({ strategy, shape = [], resources: all }: Resources, work: Work): number {
  const byShape = strategy === 'RequestedToCapacityRatio'
  if (byShape) work.say('shapePoints', { points: points(shape) })
  const mean = new Mean(byShape)
  for (const r of all) {
    const can = work.of(r.allocatable)
    const total = work.of(r.inUse) + r.requested
    if (!can) {
      leftOut(r, work)
      continue
    }
    defaults(r, work)
    const values = allocation(r, work)
    let kind: string = 'leastFull'
    let score = 0
    if (strategy === 'LeastAllocated') {
      if (total <= can) [kind, score] = ['least', ratio(can - total, maxScore, can)]
    } else if (strategy === 'MostAllocated') {
      ;[kind, score] = total > can ? ['mostFull', maxScore] : ['most', ratio(total, maxScore, can)]
    } else {
      const utilization = total > can ? maxScore : ratio(total, maxScore, can)
      score = onShape(shape, utilization)
      if (score <= 0) {
        work.say('shapeZero', values)
        continue
      }
      kind = total > can ? 'shapeFull' : 'shape'
      if (kind === 'shape') values.utilization = whole(utilization)
    }
    work.say(kind, { ...values, score: whole(score) })
    mean.add(score, r.weight)
  }
  return mean.say(work)
}

function leftOut({ name, requested }: Resource, work: Work) {
  const extended = name !== 'cpu' && name !== 'memory' && name !== 'ephemeral-storage'
  work.say(requested === 0 && extended ? 'notRequested' : 'notOnNode', { resource: name })
}

/** What a container without a request counts in a score. */
const defaultRequest: Readonly<Record<string, string>> = { cpu: '100m', memory: '200Mi' }

function defaults({ name, own, ownContainers = 0, defaults: all }: Resource, work: Work) {
  const common = { resource: name, each: defaultRequest[name] ?? '' }
  const d = all?.[work.at]
  if (d) {
    const pods = somePods(
      d.pods.map((p) => `${p.namespace}/${p.name}`),
      d.pods.length + (d.podsDropped ?? 0)
    )
    work.say('defaults', {
      ...common,
      containers: whole(d.containers),
      pods,
      amount: amountOf(name, d.amount),
      described: amountOf(name, d.described),
    })
  }
  if (own) work.say('ownDefaults', { ...common, containers: whole(ownContainers), amount: amountOf(name, own) })
}

/** Some of `count` pods: at most four names, the count of the others being one of them. */
function somePods(pods: readonly string[], count: number): string {
  if (pods.length === count && count <= 4) return pods.join(', ')
  const listed = pods.slice(0, 3)
  return `${listed.join(', ')}, +${count - listed.length}`
}

function allocation(r: Resource, work: Work): Record<string, string> {
  const text = (n: number) => amountOf(r.name, n)
  const inUse = work.of(r.inUse)
  return {
    resource: r.name,
    inUse: text(inUse),
    pod: text(r.requested),
    total: text(inUse + r.requested),
    allocatable: text(work.of(r.allocatable)),
  }
}

function onShape(shape: Shape, utilization: number): number {
  const next = shape.findIndex((p) => utilization <= p.utilization)
  const to = shape[next]
  const from = shape[next - 1]
  if (!to) return shape.at(-1)?.score ?? 0
  if (!from) return to.score
  return (
    from.score +
    Math.trunc(((to.score - from.score) * (utilization - from.utilization)) / (to.utilization - from.utilization))
  )
}

const points = (shape: Shape) => shape.map((p) => `${p.utilization}% → ${p.score}`).join(', ')

class Mean {
  private readonly scores: { score: number; weight: number }[] = []
  constructor(private readonly rounded: boolean) {}
  get empty() {
    return !this.scores.length
  }
  add(score: number, weight: number) {
    this.scores.push({ score, weight })
  }
  say(work: Work): number {
    const total = this.scores.reduce((sum, s) => sum + s.score * s.weight, 0)
    const weight = this.scores.reduce((sum, s) => sum + s.weight, 0)
    if (!weight) {
      work.say('nothingCounts')
      return 0
    }
    const exact = total % weight === 0
    const raw = this.rounded ? Math.round(total / weight) : Math.trunc(total / weight)
    if (this.scores.length === 1) {
      work.say('meanOfOne', { raw: whole(raw) })
      return raw
    }
    const plain = this.scores.every((s) => s.weight === 1)
    const terms = this.scores.map((s) => (plain ? whole(s.score) : `${s.score} × ${s.weight}`))
    work.say(exact ? 'mean' : this.rounded ? 'meanRounded' : 'meanDown', {
      terms: `(${terms.join(' + ')}) / ${weight}`,
      raw: whole(raw),
    })
    return raw
  }
}

function balance({ resources: all }: Resources, work: Work): number {
  const without: number[] = []
  const withPod: number[] = []
  for (const r of all) {
    const can = work.of(r.allocatable)
    if (!can) {
      leftOut(r, work)
      continue
    }
    const before = Math.min(work.of(r.inUse) / can, 1)
    const after = Math.min((work.of(r.inUse) + r.requested) / can, 1)
    without.push(before)
    withPod.push(after)
    work.say('share', { ...allocation(r, work), without: decimal(100 * before, 1), with: decimal(100 * after, 1) })
  }
  const score = (kind: 'balanceWithout' | 'balanceWith', fractions: number[]) => {
    const result = Math.trunc((1 - deviation(fractions)) * maxScore)
    work.say(kind, { deviation: decimal(deviation(fractions), 4), score: whole(result) })
    return result
  }
  const before = score('balanceWithout', without)
  const after = score('balanceWith', withPod)
  const raw = maxScore / 2 + Math.trunc((maxScore / 2 + after - before) / 2)
  work.say('balance', { with: whole(after), without: whole(before), raw: whole(raw) })
  return raw
}

/** The standard deviation; that of two fractions as kube-scheduler computes it, without a square root. */
function deviation(fractions: readonly number[]): number {
  const [a = 0, b = 0] = fractions
  if (fractions.length < 2) return 0
  if (fractions.length === 2) return Math.abs((a - b) / 2)
  const average = fractions.reduce((sum, f) => sum + f, 0) / fractions.length
  return Math.sqrt(fractions.reduce((sum, f) => sum + (f - average) * (f - average), 0) / fractions.length)
}

function volumes({ shape, classes }: NonNullable<PluginScoreFacts['volumes']>, work: Work): number {
  const mean = new Mean(true)
  for (const c of classes) {
    const requested = work.of(c.requested)
    const capacity = work.of(c.capacity)
    if (!requested && !capacity) continue
    if (mean.empty) work.say('shapePoints', { points: points(shape) })
    const fits = capacity > 0 && requested <= capacity
    const utilization = fits ? ratio(requested, maxScore, capacity) : maxScore
    const score = onShape(shape, utilization)
    const values = {
      class: c.storageClass,
      requested: ofBytes(requested),
      capacity: ofBytes(capacity),
      score: whole(score),
    }
    if (fits) work.say('class', { ...values, utilization: whole(utilization) })
    else work.say('classFull', values)
    mean.add(score, 1)
  }
  return mean.say(work)
}

const mebibyte = 2 ** 20
/** ImageLocality scores sizes between these bounds, the upper one for each container. */
const fewestImageBytes = 23 * mebibyte
const mostContainerBytes = 1000 * mebibyte

function images(facts: NonNullable<PluginScoreFacts['images']>, work: Work): number {
  let sum = 0
  let found = false
  for (const image of facts.images) {
    const size = work.of(image.size)
    const nodes = work.of(image.nodes)
    if (!nodes) continue
    found = true
    const scaled = image.times * Math.trunc(size * (nodes / facts.clusterNodes))
    sum += scaled
    const values = {
      image: image.name,
      size: ofBytes(size),
      nodes: whole(nodes),
      clusterNodes: String(facts.clusterNodes),
      score: ofBytes(scaled),
    }
    if (image.times > 1) work.say('imageTimes', { ...values, times: whole(image.times) })
    else work.say('image', values)
  }
  const most = mostContainerBytes * facts.containers
  const containers = String(facts.containers)
  if (!found) {
    work.say('imageNone')
    return 0
  }
  if (sum <= fewestImageBytes) {
    work.say('imageLow', { sum: ofBytes(sum) })
    return 0
  }
  if (sum >= most) {
    work.say('imageHigh', { sum: ofBytes(sum), containers })
    return maxScore
  }
  const raw = ratio(sum - fewestImageBytes, maxScore, most - fewestImageBytes)
  work.say('imageRaw', { sum: ofBytes(sum), containers, raw: whole(raw) })
  return raw
}

function preferences(facts: NonNullable<PluginScoreFacts['preferences']>, work: Work): number {
  let total = 0
  const terms = facts.terms.map((t) => {
    const term = t.requirements
      .map((r) => `${r.key} ${r.operator}${r.values?.length ? ` [${r.values.join(', ')}]` : ''}`)
      .join(', ')
    const added = t.source === 'addedAffinity'
    if (!t.met[work.at]) {
      work.say(added ? 'addedUnmet' : 'preferenceUnmet', { term })
      return '0'
    }
    work.say(added ? 'addedMet' : 'preferenceMet', { term, weight: whole(t.weight) })
    total += t.weight
    return whole(t.weight)
  })
  return work.sum(terms, total)
}

function taints(facts: NonNullable<PluginScoreFacts['taints']>, work: Work): number {
  const here = facts.taints.filter((t) => t.on[work.at])
  for (const { key, value } of here) work.say('taint', { taint: `${key}${value ? `=${value}` : ''}:PreferNoSchedule` })
  if (here.length)
    return work.sum(
      here.map(() => '1'),
      here.length
    )
  work.say('taintNone')
  return 0
}

function spread(facts: NonNullable<PluginScoreFacts['spread']>, work: Work): number {
  if (facts.source === 'system') work.say('spreadSystem')
  if (facts.source === 'default') work.say('spreadDefault')
  if (facts.ignored?.[work.at]) {
    work.say('spreadIgnored')
    return 0
  }
  let sum = 0
  const terms: string[] = []
  for (const c of facts.constraints) {
    const domain = c.domain[work.at] ?? null
    if (domain === null) {
      work.say('spreadUnlabeled', { key: c.topologyKey })
      continue
    }
    const matching = work.of(c.matching)
    const score = matching * Math.log(c.domains + 2) + (c.maxSkew - 1)
    sum += score
    terms.push(decimal(score, 2))
    work.say('spread', {
      domain: `${c.topologyKey}=${domain}`,
      matching: whole(matching),
      domains: whole(c.domains),
      maxSkew: whole(c.maxSkew),
      score: decimal(score, 2),
    })
  }
  const raw = Math.round(sum)
  work.say(terms.length > 1 ? 'sumRounded' : 'rounded', { terms: terms.join(' + ') || '0', raw: whole(raw) })
  return raw
}

type PodTerms = NonNullable<PluginScoreFacts['podTerms']>

function podTerms(facts: PodTerms, work: Work): number {
  const domains = new Map<string, string>()
  const parts: string[] = []
  let total = 0
  for (const d of facts.domains) {
    const value = d.domain[work.at] ?? null
    if (value === null) {
      work.say('unlabeled', { key: d.topologyKey })
      continue
    }
    const domain = `${d.topologyKey}=${value}`
    domains.set(d.topologyKey, domain)
    if (facts.terms) continue
    const sum = work.of(d.sum)
    total += sum
    parts.push(operand(sum))
    work.say('podDomain', { domain, score: whole(sum) })
  }
  if (!facts.terms) work.say('podDomainsOnly')
  for (const term of facts.terms ?? []) {
    const domain = domains.get(term.topologyKey)
    const pods = work.of(term.pods)
    if (!domain || (!pods && term.rule !== 'preferred')) continue
    const score = pods * term.weight || 0 // not −0
    total += score
    parts.push(operand(score))
    work.say(podTermKind(term), {
      pods: whole(pods),
      weight: operand(term.weight),
      score: whole(score),
      domain,
      selector: term.selector,
    })
  }
  return work.sum(parts.length ? parts : ['0'], total)
}

function podTermKind({ rule, weight }: NonNullable<PodTerms['terms']>[number]): string {
  if (rule === 'preferred') return 'podTerm'
  if (rule === 'existingRequired') return 'existingHard'
  return weight < 0 ? 'existingApart' : 'existingNear'
}

/** What the first alternative of a request for devices counts; each further one counts one less. */
const mostAlternatives = 8

function devices({ requests }: NonNullable<PluginScoreFacts['devices']>, work: Work): number {
  if (!requests.length) {
    work.say('noAlternatives')
    return 0
  }
  let total = 0
  const terms = requests.map((r) => {
    const request = `${r.claim}/${r.request}`
    const chosen = work.of(r.chosen)
    if (chosen < 0) {
      work.say('deviceNone', { request })
      return '0'
    }
    const score = mostAlternatives - chosen
    total += score
    work.say('device', {
      request,
      alternative: r.alternatives[chosen] ?? '',
      n: whole(chosen + 1),
      score: `${mostAlternatives} − ${chosen} = ${score}`,
    })
    return whole(score)
  })
  return work.sum(terms, total)
}

function normalize(
  score: Score,
  column: number,
  row: number,
  facts: PluginScoreFacts | undefined,
  work: Work
): number | undefined {
  const raw = score.raw[row]?.[column] ?? 0
  const recorded = { raw: whole(raw), normalized: whole(score.normalized[row]?.[column] ?? 0) }
  let lowest = Infinity
  let highest = -Infinity
  for (const values of score.raw) {
    lowest = Math.min(lowest, values[column] ?? 0)
    highest = Math.max(highest, values[column] ?? 0)
  }
  let out: number | undefined
  switch (score.plugins[column]?.normalization) {
    case 'none':
      work.say('normNone', { raw: whole(raw), normalized: whole(raw) })
      return raw
    case 'highest':
      out = highest > 0 ? ratio(maxScore, raw, highest) : raw
      if (highest > 0) work.say('normHighest', { raw: whole(raw), highest: whole(highest), normalized: whole(out) })
      else work.say('normHighestZero')
      break
    case 'lowest':
      out = highest > 0 ? maxScore - ratio(maxScore, raw, highest) : maxScore
      if (highest > 0) work.say('normLowest', { raw: whole(raw), highest: whole(highest), normalized: whole(out) })
      else work.say('normLowestZero')
      break
    case 'range':
      out = overRange(raw, lowest, highest, work)
      break
    case 'spread':
      out = overSpread(raw, recorded, facts?.spread, work)
      break
    case 'own':
      work.say('normOwn', recorded)
      break
    default:
      return undefined
  }
  const examples = examplesOf(score, column, row)
  if (examples) work.say('normAll', { examples })
  return out
}

/** Computed with fractions, as kube-scheduler does. */
function overRange(raw: number, lowest: number, highest: number, work: Work): number {
  if (lowest === highest) {
    work.say('normRangeSame', { raw: whole(raw) })
    return 0
  }
  const out = Math.trunc(maxScore * ((raw - lowest) / (highest - lowest)))
  work.say('normRange', {
    raw: operand(raw),
    less: operand(lowest),
    most: operand(highest),
    lowest: whole(lowest),
    highest: whole(highest),
    normalized: whole(out),
  })
  const exact = ratio(maxScore, raw - lowest, highest - lowest)
  if (out < exact) work.say('normCutOff', { next: whole(exact) })
  return out
}

function overSpread(
  raw: number,
  recorded: Record<string, string>,
  over: PluginScoreFacts['spread'],
  work: Work
): number | undefined {
  if (!over || (over.ignored && work.at < 0)) {
    work.say('normSpreadSome', recorded)
    return undefined
  }
  if (over.ignored?.[work.at]) {
    work.say('normIgnored')
    return 0
  }
  if (!over.highest) {
    work.say('normSpreadZero')
    return maxScore
  }
  const out = ratio(maxScore, over.highest + over.lowest - raw, over.highest)
  work.say('normSpread', {
    raw: whole(raw),
    lowest: whole(over.lowest),
    highest: whole(over.highest),
    normalized: whole(out),
  })
  return out
}

const mostExamples = 6

/**
 * What becomes of the distinct raw scores, lowest first; '' if all are the same. Of many, those in
 * the middle are left out.
 */
function examplesOf(score: Score, column: number, row: number): string {
  const pairs = new Map<string, [number, number]>()
  const key = (at: number) => `${score.raw[at]?.[column]} ${score.normalized[at]?.[column]}`
  for (let at = 0; at < score.nodes.length; at++)
    pairs.set(key(at), [score.raw[at]?.[column] ?? 0, score.normalized[at]?.[column] ?? 0])
  if (pairs.size < 2) return ''
  const all = [...pairs].sort(([, a], [, b]) => a[0] - b[0] || b[1] - a[1])
  const out: string[] = []
  all.forEach(([pair, [raw, normalized]], i) => {
    const edge = i < mostExamples / 2 || i >= all.length - mostExamples / 2
    if (all.length <= mostExamples || edge || pair === key(row)) out.push(`${whole(raw)} → ${whole(normalized)}`)
    else if (out.at(-1) !== '…') out.push('…')
  })
  return out.join(', ')
}
