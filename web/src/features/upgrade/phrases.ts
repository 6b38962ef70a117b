// Sentences about a comparison of two versions.

import type {
  UpgradeAnswer,
  UpgradeCause,
  UpgradeDecision,
  UpgradeGate,
  UpgradeGateChange,
  UpgradeIgnored,
} from '@/api/types'
import { t } from '@/i18n'
import { knownCause } from './model/known'
import { podName, type UpgradeClass } from './model/report'

/** A part of the sentence, with what its colour says. */
export interface Part {
  text: string
  tone?: 'moved' | 'bad' | 'good'
}

const tones: Partial<Record<UpgradeClass, Part['tone']>> = { moved: 'moved', lost: 'bad', gained: 'good' }

/** What differs, in the order of its weight; ties and reasons only if no pod goes anywhere else. */
function said(answer: UpgradeAnswer): readonly UpgradeClass[] {
  const places = (['moved', 'lost', 'gained'] as const).filter((of) => answer[of])
  return places.length ? places : (['tie', 'reason'] as const).filter((of) => answer[of])
}

function partOf(answer: UpgradeAnswer, of: UpgradeClass, first: boolean): Part {
  const n = answer[of]
  const count = first ? t('upgrade.say.of', { n, of: answer.pods }) : n
  const key = first || of === 'moved' ? of : `${of}Too`
  const tone = tones[of]
  return { text: t(`upgrade.say.${key}`, { count }, n), ...(tone ? { tone } : {}) }
}

/** The sentence of the page, in parts. */
export function sentenceParts(answer: UpgradeAnswer): Part[] {
  const classes = said(answer)
  const facts: Part[] = !answer.pods
    ? [{ text: t('upgrade.say.none') }]
    : classes.length
      ? classes.map((of, i) => partOf(answer, of, i === 0))
      : [{ text: t('upgrade.say.same', { of: answer.pods }, answer.pods) }]
  // The parts stand where the message has its placeholder, which no text contains.
  const hole = '\u0000'
  const [head = '', tail = ''] = t('upgrade.say.between', {
    from: answer.from.minor,
    to: answer.to.minor,
    parts: hole,
  }).split(hole)
  const last = facts.length - 1
  return [
    { text: head },
    ...facts.flatMap((fact, i) =>
      i === 0 ? [fact] : [{ text: i === last ? t('upgrade.say.and') : t('common.separator') }, fact]
    ),
    { text: tail },
  ]
}

export const sentence = (answer: UpgradeAnswer): string =>
  sentenceParts(answer)
    .map(({ text }) => text)
    .join('')

const reasonsOf = (status: UpgradeCause['before']): string => (status?.reasons ?? []).join(t('common.separator'))

/** The name of what differs. */
export const causeName = ({ plugins = [] }: UpgradeCause): string =>
  plugins.length ? plugins.join(t('common.separator')) : t('upgrade.noPlugin')

/** What the plugins do differently, as data. */
export function what(cause: UpgradeCause): string {
  const plugins = cause.plugins ?? []
  const [before, after] = [reasonsOf(cause.before), reasonsOf(cause.after)]
  if (cause.class === 'lost' && plugins.length)
    return after ? t('upgrade.what.lostWords', { after }) : t('upgrade.what.lost')
  if (cause.class === 'gained' && plugins.length)
    return before ? t('upgrade.what.gainedWords', { before }) : t('upgrade.what.gained')
  if (cause.point === 'preFilter' && !plugins.length) return t('upgrade.what.preFilter')
  if (!plugins.length) return t('upgrade.what.none')
  if (cause.point === 'score')
    return t(`upgrade.what.${!cause.proven ? 'scoreSome' : plugins.length > 1 ? 'scores' : 'score'}`)
  if (cause.point === 'postFilter') return t('upgrade.what.evicts')
  return before && after ? t('upgrade.what.words', { before, after }) : t('upgrade.what.filter')
}

/** Why it does; undefined if it is not known. */
export function explained(cause: UpgradeCause, answer: UpgradeAnswer): string | undefined {
  const key = knownCause(cause, answer.from.minor, answer.to.minor)
  return key && t(`upgrade.known.${key}`)
}

/** What a gate is in a version. */
function gateIn(gate: UpgradeGate | null, absent: string): string {
  if (!gate) return absent
  const on = t(`upgrade.gate.${gate.on ? 'on' : 'off'}`)
  return gate.stage || gate.on
    ? [t(`upgrade.gate.${gate.stage?.toLowerCase() || 'ga'}`), on].join(t('common.separator'))
    : on
}

export const gateChange = ({ before, after }: UpgradeGateChange): string =>
  t('upgrade.gateChange', {
    before: gateIn(before, t('upgrade.gate.new')),
    after: gateIn(after, t('upgrade.gate.gone')),
  })

export interface GateTag {
  text: string
  tone: '' | 'warn'
  title: string
}

/** What guards a cause. */
export function gateTag(cause: UpgradeCause, { gates: changes }: UpgradeAnswer['configuration']): GateTag | undefined {
  const [gate] = cause.gates ?? []
  if (gate) {
    const change = changes.find(({ name }) => name === gate)
    const title = cause.gates?.join(t('common.separator')) ?? ''
    return { text: change ? gateIn(change.after, t('upgrade.gate.gone')) : gate, tone: '', title }
  }
  if (cause.gatesNotAsked) return { text: t('upgrade.gatesNotAsked'), tone: '', title: t('upgrade.gatesNotAskedHint') }
  return { text: t('upgrade.noGate'), tone: 'warn', title: t('upgrade.noGateHint') }
}

/** What a version decides, in a few words. */
export function chooses({ best = [], bestCount }: UpgradeDecision): string {
  const n = bestCount ?? best.length
  const [node] = best
  if (!node) return t('upgrade.choseNone')
  return n > 1 ? t('upgrade.choseOne', { n }) : t('upgrade.chose', { node })
}

export function feasible(before: UpgradeDecision, after: UpgradeDecision): string {
  return before.feasible === after.feasible
    ? t('upgrade.feasibleBoth', { n: before.feasible, of: before.nodes })
    : t('upgrade.feasibleEach', { before: before.feasible, after: after.feasible, of: before.nodes })
}

/** What is ignored about a kind. */
export function ignoredWhat({ path, readAs }: UpgradeIgnored): string {
  if (path) return path
  return readAs ? t('upgrade.ignoredReadAs', { version: readAs }) : t('upgrade.ignoredKind')
}

export const ignoredTimes = ({ times, example }: UpgradeIgnored): string =>
  t('upgrade.ignoredTimes', { n: times, example: podName(example) }, times)
