// What the page of scenarios shows of runs and comparisons.

import { based } from '@/api/base'
import type { ErrorDetail, RunEntry, RunMetricComparison, RunResult } from '@/api/types'
import type { Problem } from '@/features/yaml/model/documents'
import { scenarioFile } from './example'

/** Where runs are to be had as a file that opens without a server. */
export const runReportHref = (id: string): string => based(`/api/v1/runs/${id}?format=html`)

/** The mistakes that have a line, by the file of the page that they are in. */
export function mistakesIn(
  details: readonly ErrorDetail[],
  sent: 'scenario' | 'sweep'
): Record<'scenario' | 'sweep', Problem[]> {
  const found: Record<'scenario' | 'sweep', Problem[]> = { scenario: [], sweep: [] }
  for (const { file, line, column, message } of details) {
    if (line) found[file === scenarioFile ? 'scenario' : sent].push({ line, ...(column ? { column } : {}), message })
  }
  return found
}

/** The cluster's time, as minutes:seconds.tenths. */
export function clusterClock(seconds: number): string {
  const tenths = Math.round(seconds * 10)
  return `${Math.floor(tenths / 600)}:${String(Math.floor(tenths / 10) % 60).padStart(2, '0')}.${tenths % 10}`
}

export const isActive = (entry: RunEntry): boolean => entry.state === 'queued' || entry.state === 'running'

/** The matrix: a row for each configuration with its gates and its version of Kubernetes, and a column for each seed. */
export interface MatrixRow {
  configuration: string
  gates: string
  cells: { index: number; seed: number | undefined; result: RunResult | undefined }[]
}

export function gatesOf(result: RunResult): string {
  const gates = Object.entries(result.featureGates ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, on]) => `${name}=${on}`)
    .join(',')
  return [gates, result.kubernetesVersion && `Kubernetes ${result.kubernetesVersion}`].filter(Boolean).join(' ')
}

/** The rows of the runs that have ended. */
export function matrixOf(results: readonly (RunResult | null)[]): MatrixRow[] {
  const rows = new Map<string, MatrixRow>()
  results.forEach((result, index) => {
    if (!result) return
    const gates = gatesOf(result)
    const key = `${result.configuration} ${gates}`
    const row = rows.get(key) ?? { configuration: result.configuration, gates, cells: [] }
    row.cells.push({ index, seed: result.seed, result })
    rows.set(key, row)
  })
  return [...rows.values()]
}

/** The run to show first: the first that did not pass, or else the first that has ended. */
export function firstToShow(results: readonly (RunResult | null)[]): number {
  const bad = results.findIndex((result) => result && result.outcome !== 'passed')
  return bad >= 0 ? bad : Math.max(0, results.findIndex(Boolean))
}

export const failuresOf = (result: RunResult): number => result.expectations - result.held

/** From this share of the pairs on a difference counts. */
const clear = 0.95

export type Verdict = 'better' | 'worse' | 'same' | 'unclear' | 'none'

export function verdictOf({ pairs }: RunMetricComparison): Verdict {
  if (!pairs) return 'none'
  if (pairs.equal === 1) return 'same'
  if (pairs.better >= clear) return 'better'
  return pairs.worse >= clear ? 'worse' : 'unclear'
}

/** The name below messages.runs.metric and, for an allocation, its resource. */
export function metricName(name: string): { key: string; resource: string } {
  const [key = name, resource = ''] = name.split(' ')
  return { key, resource }
}

export function metricValue({ unit }: RunMetricComparison, value: number): string {
  if (unit === 'share') return `${(100 * value).toFixed(1)} %`
  if (unit === 'seconds') return `${value.toFixed(1)} s`
  if (unit === 'dollars') return `$${value.toFixed(value < 0.1 ? 4 : 2)}`
  return String(Math.round(value * 100) / 100)
}

/** Where the ranges of both sides lie on a scale of 0 to 100; undefined when nothing differs. */
export function stripOf({
  a,
  b,
}: RunMetricComparison): { a: [number, number, number]; b: [number, number, number] } | undefined {
  const low = Math.min(a.min, b.min)
  const high = Math.max(a.max, b.max)
  if (low === high) return undefined
  const at = (value: number) => 4 + ((value - low) / (high - low)) * 92
  return { a: [at(a.min), at(a.median), at(a.max)], b: [at(b.min), at(b.median), at(b.max)] }
}
