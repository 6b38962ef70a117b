// The difference between the configurations in effect, as the lines of a listing.

import { isRecord } from '@/api/http'
import type { UpgradeChanges, UpgradePlugin } from '@/api/types'

export interface Line {
  mark: '' | '+' | '-'
  text: string
  /** The line stands for so many that are the same. */
  skipped?: number
}

/** The lines of two lists, each with whether it is only in the first (-) or the second (+). */
export function difference(before: readonly string[], after: readonly string[]): Line[] {
  // length[i][j] counts the lines of the longest common subsequence of before[i:] and after[j:].
  const length = Array.from({ length: before.length + 1 }, () => new Array<number>(after.length + 1).fill(0))
  const at = (i: number, j: number) => length[i]?.[j] ?? 0
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const row = length[i]
      if (row) row[j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const out: Line[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      out.push({ mark: '', text: before[i++] ?? '' })
      j++
    } else if (j === after.length || (i < before.length && at(i + 1, j) >= at(i, j + 1)))
      out.push({ mark: '-', text: before[i++] ?? '' })
    else out.push({ mark: '+', text: after[j++] ?? '' })
  }
  return out
}

/** Unchanged lines further than this from a changed one are counted. */
const around = 1

/** The same lines, with runs of unchanged ones counted. */
export function shortened(lines: readonly Line[]): Line[] {
  const near = (at: number) => lines.slice(Math.max(0, at - around), at + around + 1).some(({ mark }) => mark !== '')
  const out: Line[] = []
  lines.forEach((line, at) => {
    if (near(at)) return out.push(line)
    const last = out.at(-1)
    if (last?.skipped) last.skipped++
    else out.push({ mark: '', text: '', skipped: 1 })
    return undefined
  })
  return out
}

const pluginLine = ({ name, weight }: UpgradePlugin): string => (weight ? `${name}: ${weight}` : name)

/** Each field of arguments by its path, with its value as JSON. */
function fields(value: unknown, path = ''): Map<string, string> {
  if (!isRecord(value)) return new Map(value === undefined || value === null ? [] : [[path, JSON.stringify(value)]])
  const out = new Map<string, string>()
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'apiVersion' || name === 'kind') continue
    for (const [at, text] of fields(inner, path ? `${path}.${name}` : name)) out.set(at, text)
  }
  return out
}

/** A part of the listing: an extension point, or the arguments of a plugin. */
export interface Part {
  profile: string
  title: string
  lines: readonly Line[]
}

/** What differs, by extension point and then by the arguments of a plugin. */
export function configurationParts({ plugins, args }: UpgradeChanges): Part[] {
  const points = plugins.map(({ profile, point, before, after }) => ({
    profile,
    title: point,
    lines: shortened(difference((before ?? []).map(pluginLine), (after ?? []).map(pluginLine))),
  }))
  const changed = args.map(({ profile, plugin, before, after }) => {
    const [old, fresh] = [fields(before), fields(after)]
    const lines = [...new Set([...old.keys(), ...fresh.keys()])].sort().flatMap((path): Line[] => {
      const [a, b] = [old.get(path), fresh.get(path)]
      if (a === b) return []
      return [
        ...(a === undefined ? [] : [{ mark: '-' as const, text: `${path}: ${a}` }]),
        ...(b === undefined ? [] : [{ mark: '+' as const, text: `${path}: ${b}` }]),
      ]
    })
    // Arguments without fields, of a plugin that one version lacks.
    if (!lines.length) lines.push({ mark: before ? '-' : '+', text: '{}' })
    return { profile, title: `${plugin} args`, lines }
  })
  return [...points, ...changed]
}

/** How many lines were added and removed. */
export function lineCounts(parts: readonly Part[]): { added: number; removed: number } {
  const lines = parts.flatMap((part) => part.lines)
  return {
    added: lines.filter(({ mark }) => mark === '+').length,
    removed: lines.filter(({ mark }) => mark === '-').length,
  }
}
