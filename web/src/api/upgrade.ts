// Two versions of Kubernetes, compared by the decisions of their schedulers. The server compares one pair at a time.

import { bodyOf, client } from './client'
import { ApiError } from './http'
import type { Upgrade as Question, UpgradeJob, UpgradeVersion } from './types'
import { upload } from './upload'

const path = '/api/v1/upgrade'

/** Both versions are named. */
export type Upgrade = Question & Required<Pick<Question, 'from' | 'to'>>

export async function listUpgradeVersions(signal?: AbortSignal): Promise<readonly UpgradeVersion[]> {
  return (await bodyOf(client.GET(`${path}/versions`, { signal }))).items
}

/** The last comparison; undefined if none was asked for. */
export async function getUpgrade(signal?: AbortSignal): Promise<UpgradeJob | undefined> {
  try {
    return await bodyOf(client.GET(path, { signal }))
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return undefined
    throw error
  }
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
