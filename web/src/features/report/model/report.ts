// What a report holds: an HTML file with one decision, or with two to compare, with runs, or with
// the result of a lesson, that
// opens without a server. The server's package report writes it.

import { isRecord } from '@/api/http'
import type { AnsweredCheck, LessonResult } from '@/api/learn'
import type { Cycle, RunComparison, RunDecision, RunResult, RunSweep, Summary } from '@/api/types'

/**
 * The version of the content. A file of a later version is not read; those of version 1 held
 * decisions only.
 */
const version = 2
/** The element that holds the content: JSON, compressed with gzip, in base64. */
export const contentId = 'report'

export interface Provenance {
  /** The versions of the programs that decided. */
  simulator: string
  kubernetes: string
  /** When the file was made, RFC 3339. */
  exported: string
  redacted?: boolean
}

export interface DecisionReport {
  kind: 'decision'
  provenance: Provenance
  /** The attempts of the decision's pod, oldest first. */
  attempts: readonly Summary[]
  decision: Cycle
  /** The decision that it is compared with. */
  other?: Cycle
}

export interface ReportedRuns {
  name: string
  file?: string
  /** Those that have not ended are null. */
  results: readonly (RunResult | null)[]
  comparison?: RunComparison
  sweep?: RunSweep
  /** The whole decisions behind failed expectations, by decisionKey. */
  decisions?: Readonly<Record<string, Cycle>>
}

/** The name of the decision of the result at an index. The server's package report makes the same. */
export const decisionKey = (index: number, { pod, attempt }: RunDecision): string => `${index}/${pod.uid}/${attempt}`

export interface RunsReport {
  kind: 'runs'
  provenance: Provenance
  runs: readonly ReportedRuns[]
}

/** A check with the decision of its prediction. */
export type ReportedCheck = AnsweredCheck & { verdict?: Cycle }

export interface LessonReport {
  kind: 'lesson'
  provenance: Provenance
  lesson: Omit<LessonResult, 'answers'> & { answers: ReportedCheck[] }
}

export type Report = DecisionReport | RunsReport | LessonReport

/** What one counts in a report, as the footer does. */
export function countIn(report: Report): number {
  if (report.kind === 'decision') return report.other ? 2 : 1
  return report.kind === 'runs'
    ? report.runs.reduce((sum, { results }) => sum + results.length, 0)
    : report.lesson.answers.length
}

export function nameOf(report: Report): string {
  if (report.kind === 'decision') return report.decision.pod.name
  return report.kind === 'runs' ? report.runs.map(({ name }) => name).join(', ') : report.lesson.title
}

/** The file is no report, or not one that this version reads. */
export class NoReport extends Error {
  constructor(readonly reason: 'noReport' | 'damaged' | 'tooNew') {
    super(reason)
    this.name = 'NoReport'
  }
}

/** The compressed content in the text of an HTML file. Nothing of the file runs. */
export function contentOf(html: string): string {
  const found = new DOMParser().parseFromString(html, 'text/html').getElementById(contentId)
  if (!found) throw new NoReport('noReport')
  return found.textContent
}

/** Unpacks the content of a report. Throws NoReport. */
export async function readReport(content: string): Promise<Report> {
  let body: unknown
  try {
    const bytes = Uint8Array.from(atob(content.trim()), (c) => c.charCodeAt(0))
    body = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).json()
  } catch {
    throw new NoReport('damaged')
  }
  if (!isRecord(body) || typeof body.version !== 'number') throw new NoReport('damaged')
  if (body.version > version) throw new NoReport('tooNew')
  const read: Record<string, unknown> = body.version === 1 ? { ...body, kind: 'decision' } : body
  if (!isRecord(body.provenance) || !isComplete(read)) throw new NoReport('damaged')
  return (read.kind === 'decision' ? { attempts: [], ...read } : read) as unknown as Report
}

function isComplete({ kind, decision, runs, lesson }: Record<string, unknown>): boolean {
  if (kind === 'decision') return isRecord(decision)
  if (kind === 'runs') return Array.isArray(runs) && runs.every((one) => isRecord(one) && Array.isArray(one.results))
  return kind === 'lesson' && isRecord(lesson) && Array.isArray(lesson.answers)
}
