// What a report holds: an HTML file with one decision, or with two to compare, that opens without a
// server. The server's package report writes it.

import { isRecord } from '@/api/http'
import type { Cycle, Summary } from '@/api/types'

/** The version of the content. A file of a later version is not read. */
const version = 1
/** The element that holds the content: JSON, compressed with gzip, in base64. */
export const contentId = 'report'

export interface Provenance {
  /** The versions of the programs that decided. */
  simulator: string
  kubernetes: string
  /** When the file was made, RFC 3339. */
  exported: string
}

export interface Report {
  provenance: Provenance
  /** The attempts of the decision's pod, oldest first. */
  attempts: readonly Summary[]
  decision: Cycle
  /** The decision that it is compared with. */
  other?: Cycle
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
  if (!isRecord(body.provenance) || !isRecord(body.decision) || !Array.isArray(body.attempts)) throw new NoReport('damaged')
  return body as unknown as Report
}
