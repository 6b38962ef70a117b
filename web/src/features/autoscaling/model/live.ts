// What the simulated cloud is set to, as a form; and which entries of the log to show.

import type { KarpenterEntry, KarpenterSettings } from '@/api/types'

export interface CloudForm {
  delay: string
  /** Names of zones without capacity, separated by commas. */
  zones: string
  noSpot: boolean
  fails: boolean
  neverReady: boolean
}

const onlyZone = ({
  zone,
  instanceType,
  capacityType,
}: {
  zone?: string
  instanceType?: string
  capacityType?: string
}) => (zone && !instanceType && !capacityType ? [zone] : [])

const isSpot = ({
  zone,
  instanceType,
  capacityType,
}: {
  zone?: string
  instanceType?: string
  capacityType?: string
}) => !zone && !instanceType && capacityType === 'spot'

export const cloudForm = (settings: KarpenterSettings): CloudForm => ({
  delay: settings.registrationDelay ?? '',
  zones: (settings.noCapacity ?? []).flatMap(onlyZone).join(', '),
  noSpot: (settings.noCapacity ?? []).some(isSpot),
  fails: Boolean(settings.launchFails),
  neverReady: settings.neverReady ?? false,
})

/** What the form does not have stays as it is. */
export function settingsOf(
  form: CloudForm,
  { noCapacity = [], launchFails }: KarpenterSettings
): Omit<KarpenterSettings, 'on'> {
  const zones = form.zones.split(/[\s,]+/).filter(Boolean)
  return {
    registrationDelay: form.delay.trim() || undefined,
    noCapacity: [
      ...noCapacity.filter((place) => !onlyZone(place).length && !isSpot(place)),
      ...zones.map((zone) => ({ zone })),
      ...(form.noSpot ? [{ capacityType: 'spot' }] : []),
    ],
    launchFails: form.fails ? launchFails || 'the cloud refuses every launch' : '',
    neverReady: form.neverReady,
  }
}

export const filters = ['done', 'said', 'all'] as const
export type Filter = (typeof filters)[number]

/** What Karpenter says about nodes that stay is most of the log, and nothing has come of it. */
const acts = new Set([
  'DisruptionLaunching',
  'DisruptionTerminating',
  'Disrupted',
  'Evicted',
  'FailedDraining',
  'FailedTermination',
  'Nominated',
  'TerminationGracePeriodExpiring',
])

export function shows(filter: Filter, { kind, reason = '' }: Pick<KarpenterEntry, 'kind' | 'reason'>): boolean {
  if (filter === 'all') return true
  const done = kind !== 'said' || acts.has(reason)
  return filter === 'done' ? done : !done
}
