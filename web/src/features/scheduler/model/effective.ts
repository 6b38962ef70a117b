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
  /** What it is in the configuration that it is compared with, where that is something else. */
  was: Pick<EffectiveCell, 'state' | 'weight'> | undefined
}

export interface EffectiveRow {
  plugin: string
  cells: EffectiveCell[]
  arguments: Record<string, unknown> | undefined
  argumentsChanged: boolean
  /** They are not those of the configuration that it is compared with. */
  argumentsDiffer: boolean
  /** Something about it is not as the default has it. */
  changed: boolean
}

export interface EffectiveMatrix {
  /** Extension points at which some plugin is or was, in their order. */
  points: string[]
  /** In the order in which plugins are first called, those that are off last. */
  rows: EffectiveRow[]
  /** Rows that are not as the default has them. */
  changed: number
  /** Rows that are not as the configuration has them that it is compared with. */
  differing: number
}

/** `other` is the same profile of the configuration that it is compared with: what runs, for a draft. */
export function effectiveMatrix(profile: EffectiveProfile, other?: EffectiveProfile): EffectiveMatrix {
  const matrix = matrixOf(profile)
  if (!other) return matrix
  const before = matrixOf(other)
  const rowsBefore = new Map(before.rows.map((row) => [row.plugin, row]))
  // A plugin that the draft does without altogether still stands there, as none.
  const gone = before.rows.filter((row) => !matrix.rows.some((r) => r.plugin === row.plugin))
  const absent = (plugin: string): EffectiveRow => ({ plugin, cells: matrix.points.map(() => none), arguments: undefined, argumentsChanged: false, argumentsDiffer: false, changed: false })
  const rows = [...matrix.rows, ...gone.map((row) => absent(row.plugin))].map((row): EffectiveRow => {
    const old = rowsBefore.get(row.plugin)
    const cells = row.cells.map((cell, i): EffectiveCell => {
      const was = old?.cells[before.points.indexOf(matrix.points[i] ?? '')] ?? none
      return was.state === cell.state && was.weight === cell.weight ? cell : { ...cell, was: { state: was.state, weight: was.weight } }
    })
    return { ...row, cells, argumentsDiffer: !!row.arguments && JSON.stringify(row.arguments) !== JSON.stringify(old?.arguments) }
  })
  return { ...matrix, rows, differing: rows.filter(differs).length }
}

const none: EffectiveCell = { state: 'none', weight: undefined, changed: false, order: 0, was: undefined }

/** The row is not as in the configuration that it is compared with. */
export const differs = (row: EffectiveRow) => row.argumentsDiffer || row.cells.some((cell) => cell.was)

function matrixOf(profile: EffectiveProfile): EffectiveMatrix {
  const points = profile.extensionPoints.filter((p) => p.plugins.length || p.disabled.length)
  const names = [...new Set([...points.flatMap((p) => p.plugins.map((x) => x.name)), ...points.flatMap((p) => p.disabled)])]
  const byName = new Map(profile.plugins.map((p) => [p.name, p]))
  const rows = names.map((plugin): EffectiveRow => {
    const cells = points.map((point): EffectiveCell => {
      const at = point.plugins.findIndex((p) => p.name === plugin)
      const found = point.plugins[at]
      if (found) return { state: 'on', weight: point.name === 'score' || point.name === 'placementScore' ? found.weight : undefined, changed: found.source === 'user', order: at + 1, was: undefined }
      const off = point.disabled.includes(plugin)
      return { state: off ? 'off' : 'none', weight: undefined, changed: off, order: 0, was: undefined }
    })
    const own = byName.get(plugin)
    const argumentsChanged = own?.argumentsSource === 'user'
    return { plugin, cells, arguments: own?.arguments, argumentsChanged, argumentsDiffer: false, changed: argumentsChanged || cells.some((c) => c.changed) }
  })
  return { points: points.map((p) => p.name), rows, changed: rows.filter((r) => r.changed).length, differing: 0 }
}

/** Every plugin that some profile calls or has switched off. */
export function pluginNames(effective: Effective | undefined): string[] {
  return [...new Set(effective?.profiles.flatMap((p) => p.extensionPoints.flatMap((e) => [...e.plugins.map((x) => x.name), ...e.disabled])))].sort()
}
