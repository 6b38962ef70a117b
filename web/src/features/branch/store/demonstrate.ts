// Shows a demonstration in a workspace of its own.

import type { BranchCall } from '@/api/branches'
import { listBranches } from '@/api/branches'
import { enterNew, openBranch } from './branches'

/**
 * Opens the demonstration of this title, on a page of its workspace, and makes it if there is none. The
 * server plays it, even if the user leaves.
 */
export async function demonstrate(title: string, setup: BranchCall[], page: string): Promise<void> {
  const made = (await listBranches()).find(
    (one) => one.purpose === 'preset' && one.title === title && one.state !== 'failed'
  )
  if (made) await openBranch(made, page)
  else await enterNew({ title, purpose: 'preset', objects: [], setup }, page)
}
