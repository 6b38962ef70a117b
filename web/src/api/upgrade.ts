// Two versions of Kubernetes, compared by the decisions of their schedulers. The server compares one pair at a time.

import { bodyOf, client } from './client'
import type { Upgrade as Question, UpgradeJob, UpgradeState } from './types'
import { upload } from './upload'

const path = '/api/v1/upgrade'

/** Both versions are named. */
export type Upgrade = Question & Required<Pick<Question, 'from' | 'to'>>

/** What can be asked, and the latest comparison. */
export function getUpgrade(signal?: AbortSignal): Promise<UpgradeState> {
  return bodyOf(client.GET(path, { signal }))
}

/** Begins a comparison about the pods of the cluster. */
export function startUpgrade(question: Upgrade): Promise<UpgradeJob> {
  return bodyOf(client.POST(path, { body: question }))
}

/** Begins a comparison about the pods of a file: a recording, an export, or a manifest. */
export async function startUpgradeOfFile(
  { from, to }: Upgrade,
  file: File,
  on: { sent: (done: number, total: number) => void; signal: AbortSignal }
): Promise<UpgradeJob> {
  const query = new URLSearchParams({ from, to, name: file.name })
  return JSON.parse(
    await upload({ path: `${path}/file?${query}`, body: file, type: 'application/octet-stream', ...on })
  ) as UpgradeJob
}

/** Cancels the comparison, or forgets it if it has ended. */
export async function deleteUpgrade(): Promise<void> {
  await client.DELETE(path)
}
