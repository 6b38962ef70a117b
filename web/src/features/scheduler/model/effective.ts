// The effective configuration as a table: plugins × extension points, with differences
// from Kubernetes' default.

import type { Effective, EffectiveProfile } from '@/api/types'

export interface EffectiveCell {
  /** off: enabled in the default, but not in this configuration. */
  state: 'on' | 'off' | 'none'
  weight: number | undefined
  changed: boolean
  /** Its position in the execution order, from 1. */
  order: number
  /** Its state in the compared configuration, if that differs. */
  was: Pick<EffectiveCell, 'state' | 'weight'> | undefined
}

export interface EffectiveRow {
  plugin: string
  cells: EffectiveCell[]
  arguments: Record<string, unknown> | undefined
  argumentsChanged: boolean
  /** The arguments differ from those of the compared configuration. */
  argumentsDiffer: boolean
  changed: boolean
}

export interface EffectiveMatrix {
  /** Extension points with at least one plugin now or by default, in execution order. */
  points: string[]
  /** In the order in which plugins first run; disabled ones last. */
  rows: EffectiveRow[]
  changed: number
  differing: number
}

/** `other` is the same profile in the compared configuration: for a draft, the running one. */
export function effectiveMatrix(profile: EffectiveProfile, other?: EffectiveProfile): EffectiveMatrix {
  const matrix = matrixOf(profile)
  if (!other) return matrix
  const before = matrixOf(other)
  const rowsBefore = new Map(before.rows.map((row) => [row.plugin, row]))
  // A plugin that is missing from the draft still has a row, as none.
  const gone = before.rows.filter((row) => !matrix.rows.some((r) => r.plugin === row.plugin))
  const absent = (plugin: string): EffectiveRow => ({
    plugin,
    cells: matrix.points.map(() => none),
    arguments: undefined,
    argumentsChanged: false,
    argumentsDiffer: false,
    changed: false,
  })
  const rows = [...matrix.rows, ...gone.map((row) => absent(row.plugin))].map((row): EffectiveRow => {
    const old = rowsBefore.get(row.plugin)
    const cells = row.cells.map((cell, i): EffectiveCell => {
      const was = old?.cells[before.points.indexOf(matrix.points[i] ?? '')] ?? none
      return was.state === cell.state && was.weight === cell.weight
        ? cell
        : { ...cell, was: { state: was.state, weight: was.weight } }
    })
    return {
      ...row,
      cells,
      argumentsDiffer: !!row.arguments && JSON.stringify(row.arguments) !== JSON.stringify(old?.arguments),
    }
  })
  return { ...matrix, rows, differing: rows.filter(differs).length }
}

const none: EffectiveCell = { state: 'none', weight: undefined, changed: false, order: 0, was: undefined }

export const differs = (row: EffectiveRow) => row.argumentsDiffer || row.cells.some((cell) => cell.was)

function matrixOf(profile: EffectiveProfile): EffectiveMatrix {
  const points = profile.extensionPoints.filter((p) => p.plugins.length || p.disabled.length)
  const names = [
    ...new Set([...points.flatMap((p) => p.plugins.map((x) => x.name)), ...points.flatMap((p) => p.disabled)]),
  ]
  const byName = new Map(profile.plugins.map((p) => [p.name, p]))
  const rows = names.map((plugin): EffectiveRow => {
    const cells = points.map((point): EffectiveCell => {
      const at = point.plugins.findIndex((p) => p.name === plugin)
      const found = point.plugins[at]
      if (found)
        return {
          state: 'on',
          weight: point.name === 'score' || point.name === 'placementScore' ? found.weight : undefined,
          changed: found.source === 'user',
          order: at + 1,
          was: undefined,
        }
      const off = point.disabled.includes(plugin)
      return { state: off ? 'off' : 'none', weight: undefined, changed: off, order: 0, was: undefined }
    })
    const own = byName.get(plugin)
    const argumentsChanged = own?.argumentsSource === 'user'
    return {
      plugin,
      cells,
      arguments: own?.arguments,
      argumentsChanged,
      argumentsDiffer: false,
      changed: argumentsChanged || cells.some((c) => c.changed),
    }
  })
  return { points: points.map((p) => p.name), rows, changed: rows.filter((r) => r.changed).length, differing: 0 }
}

export function pluginNames(effective: Effective | undefined): string[] {
  return [
    ...new Set(
      effective?.profiles.flatMap((p) =>
        p.extensionPoints.flatMap((e) => [...e.plugins.map((x) => x.name), ...e.disabled])
      )
    ),
  ].sort()
}

/** The weight that is all in which the plugins of a configuration differ from those of another; undefined otherwise. */
export function soleWeight(before: Effective, after: Effective): { plugin: string; weight: number } | undefined {
  if (before.profiles.length !== after.profiles.length) return undefined
  const differing = after.profiles.flatMap((profile) => {
    const other = before.profiles.find((p) => p.schedulerName === profile.schedulerName)
    return other ? effectiveMatrix(profile, other).rows.filter(differs) : undefined
  })
  const [row] = differing
  const cells = row?.cells.filter((cell) => cell.was)
  const weight = cells?.[0]?.weight
  return row && differing.length === 1 && cells?.length === 1 && !row.argumentsDiffer && weight !== undefined
    ? { plugin: row.plugin, weight }
    : undefined
}
