// The message for each statement of an explanation, and the values for its placeholders. The
// server decides what is true; this module only chooses words.

import type { GroupShortfall, Headline, Remark } from '@/api/types'
import { amountOf, trim } from '@/kubernetes/quantity'
import { derivedOf, describedOf, leavingOf, nominatedCountedOf, permitHoldOf, resizingOf } from './inUse'

/** A message and the values for its placeholders; `count` selects its plural form. */
export interface Phrase {
  key: string
  values: Record<string, string>
  count?: number
}

export interface Words {
  t: (key: string, values: Record<string, unknown>, count?: number) => string
  /** A list of names, cut short when there are many. */
  names: (names: readonly string[]) => string
}

/** More nodes with the same total than this are counted instead of named. */
const mostTied = 4

/** More devices of one driver than this are counted instead of named. */
const mostDevices = 4

/** The phrase for a statement. A kind of the schema without a case does not compile. */
export function phraseOf(statement: Headline | Remark, words: Words): Phrase {
  const { t, names } = words
  const reasons = (all: readonly string[]) => all.join(', ') || t('explain.noReason', {})
  /** A few names of many say nothing about the others. */
  const tied = (all: readonly string[]) =>
    all.length > mostTied ? t('explain.tiedNodes', { n: all.length }) : names(all)
  const s = statement
  switch (s.kind) {
    case 'best':
      return { key: 'explain.best', values: texts(s) }
    case 'tied':
      return { key: 'explain.tied', values: { ...texts(s), others: tied(s.others) } }
    case 'tiedBySeed':
      return { key: 'explain.tiedBySeed', values: { ...texts(s), others: tied(s.others) } }
    case 'only':
      return { key: 'explain.only', values: texts(s) }
    case 'firstFeasible':
      return { key: 'explain.firstFeasible', values: texts(s) }
    case 'unscored':
      return { key: 'explain.unscored', values: texts(s) }
    case 'hinted':
      return { key: 'explain.hinted', values: texts(s) }
    case 'wasNominated':
      return { key: 'explain.wasNominated', values: texts(s) }
    case 'waiting':
      return { key: 'explain.waiting', values: { ...texts(s), plugins: s.plugins.join(t('common.separator', {})) } }
    case 'error':
      return { key: 'explain.error', values: texts(s) }
    case 'extenderError':
      return { key: 'explain.extenderError', values: texts(s) }
    case 'noNodes':
      return { key: 'explain.noNodes', values: texts(s) }
    case 'preFilter':
      return {
        key: 'explain.preFilter',
        values: { ...texts(s), plugins: s.plugins.join(t('common.separator', {})), reasons: reasons(s.reasons) },
      }
    case 'refusedLater':
      return { key: 'explain.refusedLater', values: { ...texts(s), reasons: reasons(s.reasons) } }
    case 'permitTimeout':
      return { key: 'explain.permitTimeout', values: texts(s) }
    case 'lost':
      return { key: 'explain.lost', values: texts(s) }
    case 'noNode':
      return {
        key: 'explain.noNode',
        values: {
          ...texts(s),
          rejecters: s.rejecters.map((by) => t('explain.rejecter', { ...by })).join(t('common.separator', {})),
        },
        count: s.evaluated,
      }
    case 'unschedulable':
      return { key: 'explain.unschedulable', values: texts(s) }
    case 'heldByGroup':
      return { key: 'explain.heldByGroup', values: { ...texts(s), shortfall: shortfallOf(s.group, words) } }
    case 'notTried':
      return { key: 'explain.notTried', values: { ...texts(s), shortfall: shortfallOf(s.group, words) } }
    case 'groupRejected':
      return { key: 'explain.groupRejected', values: { ...texts(s), reasons: s.reasons.join(', ') } }
    case 'waited':
      return { key: 'explain.waited', values: { ...texts(s), plugins: s.plugins.join(t('common.separator', {})) } }
    case 'nominatedCounted':
      return nominatedCountedOf(s, words)
    case 'notEvicted':
      return { key: 'explain.notEvicted', values: { ...texts(s), errors: s.errors.join(', ') }, count: s.victims }
    case 'searchEnded':
      return { key: 'explain.searchEnded', values: texts(s), count: s.nodes }
    case 'room':
      return { key: 'explain.room', values: texts(s), count: s.victims }
    case 'roomMissed':
      return { key: 'explain.roomMissed', values: texts(s), count: s.victims }
    case 'nominated':
      return { key: 'explain.nominated', values: texts(s) }
    case 'nearest':
      return {
        key: 'explain.nearest',
        values: {
          ...texts(s),
          lacks: s.lacks
            .map((lack) =>
              lack.resource === 'pods'
                ? t('explain.lackPod', {})
                : t('explain.lack', { resource: lack.resource, amount: amountOf(lack.resource, lack.amount) })
            )
            .join(t('common.separator', {})),
        },
        count: s.nodes,
      }
    case 'derived':
      return derivedOf(s, words)
    case 'leaving':
      return leavingOf(s, words)
    case 'permitHold':
      return permitHoldOf(s, words)
    case 'resizing':
      return resizingOf(s, words)
    case 'described':
      return describedOf(s, words)
    case 'nodesFromExtender':
      return { key: 'explain.nodesFromExtender', values: texts(s) }
    case 'devicesAllocated':
      return { key: 'explain.devicesAllocated', values: { claims: claimsOf(s, words) } }
    case 'deviceShortage':
      return { key: 'explain.deviceShortage', values: { ...texts(s), ...shortageOf(s, words) }, count: s.compared }
    case 'devicesTogether':
      return { key: 'explain.devicesTogether', values: texts(s), count: s.nodes }
    case 'groupHasEnough':
      return { key: 'explain.groupHasEnough', values: texts(s) }
    case 'groupShort':
      return { key: 'explain.groupShort', values: { shortfall: shortfallOf(s.group, words) } }
    case 'groupPlaced':
      return placedOf(s, words)
    case 'groupRoom':
      return { key: 'explain.groupRoom', values: texts(s) }
    case 'groupVictims':
      return { key: 'explain.groupVictims', values: texts(s), count: s.victims }
    case 'groupFits':
      return { key: 'explain.groupFits', values: texts(s) }
    case 'groupRoomImpossible':
      return { key: 'explain.groupRoomImpossible', values: texts(s), count: s.pods }
    case 'membersMissing':
      return { key: 'explain.membersMissing', values: texts(s), count: s.needs }
    case 'membersGated':
      return { key: 'explain.membersGated', values: texts(s), count: s.needs }
    case 'groupBackedOff':
      return { key: 'explain.groupBackedOff', values: texts(s) }
    case 'groupLacksResources':
      return { key: 'explain.groupLacksResources', values: texts(s) }
    case 'groupMissing':
      return { key: 'explain.groupMissing', values: texts(s) }
    case 'membersAwaited':
      return { key: 'explain.membersAwaited', values: texts(s), count: s.more }
    case 'memberFitsNowhere':
      return { key: 'explain.memberFitsNowhere', values: texts(s) }
    case 'memberLostPlace':
      return { key: 'explain.memberLostPlace', values: texts(s) }
    case 'membersSentBack':
      return { key: 'explain.membersSentBack', values: texts(s), count: s.sent }
    case 'membersKept':
      return { key: 'explain.membersKept', values: texts(s) }
    case 'membersComplete':
      return { key: 'explain.membersComplete', values: texts(s), count: s.needs }
    case 'membersShort':
      return { key: 'explain.membersShort', values: texts(s) }
    case 'quotaAtMax':
      return { key: 'explain.quotaAtMax', values: { ...texts(s), short: quotaShortages(s.short, words) } }
    case 'quotasUsedUp':
      return { key: 'explain.quotasUsedUp', values: { ...texts(s), short: quotaShortages(s.short, words) } }
    case 'quotaBorrowers':
      return {
        key: 'explain.quotaBorrowers',
        values: {
          loans: names(
            s.loans.map(({ namespace, resource, amount }) =>
              t('explain.quotaLoan', { namespace, resource, amount: amountOf(resource, amount) })
            )
          ),
        },
      }
    case 'quotaReclaims':
      return { key: 'explain.quotaReclaims', values: texts(s) }
    case 'quotaAboveMin':
      return { key: 'explain.quotaAboveMin', values: texts(s) }
    case 'quotaNobody':
      return { key: 'explain.quotaNobody', values: texts(s), count: s.nodes }
    case 'quotaBorrows':
      return {
        key: 'explain.quotaBorrows',
        values: {
          ...texts(s),
          loans: s.loans
            .map(({ resource, amount }) => `${amountOf(resource, amount)} ${resource}`)
            .join(t('common.separator', {})),
        },
      }
    case 'unaligned':
      return unalignedOf(s, words)
    case 'extenderFailure':
      return { key: s.ignored ? 'explain.extenderIgnored' : 'explain.extenderFailure', values: texts(s) }
    case 'panicked':
      return { key: 'explain.panicked', values: texts(s) }
    default:
      return unknownKind(s)
  }
}

/** Only a server of another version sends a kind that the schema does not have. */
function unknownKind(statement: never): Phrase {
  return { key: 'explain.unknown', values: { kind: String((statement as { kind: unknown }).kind) } }
}

/** The headlines that say what a hypothetical decision would do. The others say nothing that happened. */
const wouldKeys: Readonly<Record<string, string>> = {
  'explain.best': 'would.best',
  'explain.tied': 'would.tied',
  'explain.tiedBySeed': 'would.tied',
  'explain.only': 'would.only',
  'explain.firstFeasible': 'would.unscored',
  'explain.unscored': 'would.unscored',
  'explain.hinted': 'would.somewhere',
  'explain.wasNominated': 'would.somewhere',
  'explain.error': 'would.error',
  'explain.preFilter': 'would.preFilter',
  'explain.noNode': 'would.noNode',
  'explain.unschedulable': 'would.unschedulable',
}

export function supposed(phrase: Phrase): Phrase {
  return { ...phrase, key: wouldKeys[phrase.key] ?? phrase.key }
}

export function say({ key, values, count }: Phrase, { t }: Words): string {
  return count === undefined ? t(key, values) : t(key, values, count)
}

/** The operands that are texts and numbers; lists and objects have phrases of their own. */
function texts(statement: object): Record<string, string> {
  const out: Record<string, string> = {}
  for (const [name, value] of Object.entries(statement))
    if (typeof value === 'number') out[name] = trim(value, 3)
    else if (name !== 'kind' && typeof value === 'string') out[name] = value
  return out
}

type Statement<Kind extends Of['kind'], Of extends Headline | Remark = Remark> = Extract<Of, { kind: Kind }>

/** The resources by which a quota would be exceeded, as sums. */
function quotaShortages(short: Statement<'quotaAtMax', Headline>['short'], { t }: Words): string {
  const said = short.map(({ resource, used, nominated, requested, limit }) =>
    t(nominated ? 'explain.quotaShortNominated' : 'explain.quotaShort', {
      resource,
      used: amountOf(resource, used),
      nominated: amountOf(resource, nominated),
      requested: amountOf(resource, requested),
      limit: amountOf(resource, limit),
    })
  )
  return said.join(t('common.separator', {}))
}

/** What each NUMA node lacks. If all lack the same resource, the sentence names it once. */
function unalignedOf(s: Statement<'unaligned'>, { t, names }: Words): Phrase {
  const alike = s.resource !== ''
  const zones = s.zones.map(({ zone, resource, available, requested, absent }) => {
    const values = {
      zone,
      resource,
      available: amountOf(resource, available),
      requested: amountOf(resource, requested),
    }
    if (absent) return t(alike ? 'explain.zoneHasNone' : 'explain.zoneLists', values)
    return t(alike ? 'explain.zoneHas' : 'explain.zoneHasOf', values)
  })
  const part = s.container
    ? t('explain.partOfPod', { role: t(`explain.roles.${roles[s.role] ?? 'container'}`, {}), container: s.container })
    : t('explain.wholePod', {})
  const where = t('explain.unalignedOn', { node: s.node, nodes: s.nodes }, s.nodes)
  const values = {
    where,
    part,
    resource: s.resource,
    requested: alike ? amountOf(s.resource, s.requested) : '',
    zones: names(zones),
  }
  if (alike) return { key: 'explain.unalignedResource', values }
  return { key: zones.length ? 'explain.unaligned' : 'explain.unalignedAnywhere', values }
}

const roles: Readonly<Record<string, string>> = {
  container: 'container',
  'init container': 'init',
  'sidecar container': 'sidecar',
}

function shortfallOf(group: GroupShortfall, { t }: Words): string {
  const { nearest, blockers } = group
  let shortfall = t(group.needs ? 'explain.shortfallGang' : 'explain.shortfallNoGang', {
    group: group.name,
    needs: group.needs,
    found: group.found,
  })
  if (nearest) shortfall = t('explain.shortfallNearest', { ...nearest, shortfall }, nearest.placements)
  if (!blockers.length) return t('explain.shortfallAlone', { shortfall })
  const said = blockers.map(({ plugin, members, reasons }) => {
    const blocker = t('explain.blocker', { plugin, members }, members)
    return reasons.length ? t('explain.blockerReasons', { blocker, reasons: reasons.join(', ') }) : blocker
  })
  return t('explain.shortfallBlocked', { shortfall, blockers: said.join(t('common.separator', {})) })
}

function placedOf({ chosen, ...s }: Statement<'groupPlaced'>, { t }: Words): Phrase {
  let placed = t('explain.groupPlaced', texts(s), s.members)
  if (s.needs) placed = t('explain.groupPlacedNeeds', { placed, needs: s.needs })
  if (!chosen) return { key: 'explain.groupPlacedAnywhere', values: { placed } }
  const values = { placed, ...texts(chosen) }
  if (chosen.best) return { key: 'explain.groupPlacedBest', values: { ...values, ...texts(chosen.best) } }
  return { key: 'explain.groupPlacedOnly', values, count: chosen.placements }
}

function claimsOf({ claims }: Statement<'devicesAllocated'>, { t }: Words): string {
  const said = claims.map(({ claim, drivers }) => {
    const held = drivers.map(({ driver, devices }) => {
      const which =
        devices.length > mostDevices
          ? t('explain.devices', { n: devices.length }, devices.length)
          : devices.join(t('common.separator', {}))
      return t('explain.devicesOf', { devices: which, driver })
    })
    return t('explain.claimHolds', {
      claim,
      devices: held.reduce((devices, next) => t('explain.nextDriver', { devices, next })),
    })
  })
  return said.reduce((claims, next) => t('explain.nextClaim', { claims, next }))
}

function shortageOf(
  { count, noMatch, inUse, blocked }: Statement<'deviceShortage'>,
  { t }: Words
): { wanted: string; why: string } {
  const why = [
    noMatch ? t('explain.devicesNoMatch', { n: noMatch }) : '',
    inUse ? t('explain.devicesInUse', { n: inUse }) : '',
    blocked ? t('explain.devicesBlocked', { n: blocked }) : '',
  ]
  return {
    wanted: count ? t('explain.devices', { n: count }, count) : t('explain.devicesAll', {}),
    why: why.filter(Boolean).join(t('common.separator', {})),
  }
}
