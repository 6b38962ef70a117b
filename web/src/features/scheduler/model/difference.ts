// What differs between two configurations in force: as a list, and as documents for a
// comparison of texts.

import { stringify } from 'yaml'
import type { ConfigurationDifference, Effective } from '@/api/types'

/** How one field differs. added: only the second configuration has it. */
export interface Change {
  kind: 'added' | 'removed' | 'changed'
  /**
   * The path without its profile, such as plugins.score[NodeResourcesFit].weight; '' for the
   * profile itself.
   */
  field: string
  from: string
  to: string
}

/** The changes of one profile; of everything else, with the name ''. */
export interface ChangeGroup {
  profile: string
  changes: Change[]
}

/** Groups differences by profile, those outside profiles first. */
export function changeGroups(differences: readonly ConfigurationDifference[]): ChangeGroup[] {
  const groups = new Map<string, ChangeGroup>()
  for (const { field, default: from, current: to } of differences) {
    const [, profile = '', rest = field] = /^profiles\[([^\]]*)\]\.?(.*)$/.exec(field) ?? []
    const group = groups.get(profile) ?? { profile, changes: [] }
    groups.set(profile, group)
    group.changes.push({
      kind: from === null ? 'added' : to === null ? 'removed' : 'changed',
      field: rest,
      from: valueText(from),
      to: valueText(to),
    })
  }
  return [...groups.values()].sort((a, b) => Number(a.profile !== '') - Number(b.profile !== ''))
}

/** A value on one line; '' for none. */
function valueText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value) && value.every((v) => typeof v === 'string')) return value.join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/**
 * A configuration in force, written out as a document: every plugin at the extension points at
 * which it runs.
 */
export function effectiveDocument({ global, profiles, extenders }: Effective): string {
  return stringify({
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    ...Object.fromEntries(global.map(({ name, value }) => [name, value])),
    profiles: profiles.map(({ schedulerName, percentageOfNodesToScore, extensionPoints, plugins }) => ({
      schedulerName,
      ...(percentageOfNodesToScore !== undefined && { percentageOfNodesToScore }),
      plugins: Object.fromEntries(
        extensionPoints
          .filter((point) => point.plugins.length)
          .map((point) => [
            point.name,
            { enabled: point.plugins.map(({ name, weight }) => ({ name, ...(weight !== undefined && { weight }) })) },
          ])
      ),
      pluginConfig: plugins.flatMap(({ name, arguments: args }) => (args === undefined ? [] : [{ name, args }])),
    })),
    ...(extenders.length && { extenders }),
  })
}
