// The effective configuration as a table: plugins × extension points, with what is
// changed from Kubernetes' default.

import type { Effective, EffectiveProfile } from '@/api/types'

export interface EffectiveCell {
  /** off: the default has it there, this configuration does not. */
  state: 'on' | 'off' | 'none'
  weight: number | undefined
  changed: boolean
  /** From 1: in which order it is called there. */
  order: number
}

export interface EffectiveRow {
  plugin: string
  cells: EffectiveCell[]
  arguments: Record<string, unknown> | undefined
  argumentsChanged: boolean
  /** Something about it is not as the default has it. */
  changed: boolean
}

export interface EffectiveMatrix {
  /** Extension points at which some plugin is or was, in their order. */
  points: string[]
  /** In the order in which plugins are first called, those that are off last. */
  rows: EffectiveRow[]
  changed: number
}

export function effectiveMatrix(profile: EffectiveProfile): EffectiveMatrix {
  const points = profile.extensionPoints.filter((p) => p.plugins.length || p.disabled.length)
  const names = [...new Set([...points.flatMap((p) => p.plugins.map((x) => x.name)), ...points.flatMap((p) => p.disabled)])]
  const byName = new Map(profile.plugins.map((p) => [p.name, p]))
  const rows = names.map((plugin): EffectiveRow => {
    const cells = points.map((point): EffectiveCell => {
      const at = point.plugins.findIndex((p) => p.name === plugin)
      const found = point.plugins[at]
      if (found) return { state: 'on', weight: point.name === 'score' || point.name === 'placementScore' ? found.weight : undefined, changed: found.source === 'user', order: at + 1 }
      const off = point.disabled.includes(plugin)
      return { state: off ? 'off' : 'none', weight: undefined, changed: off, order: 0 }
    })
    const own = byName.get(plugin)
    const argumentsChanged = own?.argumentsSource === 'user'
    return { plugin, cells, arguments: own?.arguments, argumentsChanged, changed: argumentsChanged || cells.some((c) => c.changed) }
  })
  return { points: points.map((p) => p.name), rows, changed: rows.filter((r) => r.changed).length }
}

/** Every plugin that some profile calls or has switched off. */
export function pluginNames(effective: Effective | undefined): string[] {
  return [...new Set(effective?.profiles.flatMap((p) => p.extensionPoints.flatMap((e) => [...e.plugins.map((x) => x.name), ...e.disabled])))].sort()
}
