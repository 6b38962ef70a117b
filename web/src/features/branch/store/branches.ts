// The branches of the trunk, and the one that this page shows.

import { useIntervalFn } from '@vueuse/core'
import { shallowRef } from 'vue'
import { createBranch, deleteBranch as removeBranch, getOwnBranch, listBranches, renameBranch as rename, startBranch as start, type Branch, type BranchRequest, type OwnBranch } from '@/api/branches'
import { branchName } from '@/api/base'
import { ApiError } from '@/api/http'

/** undefined before the first answer. */
export const branches = shallowRef<readonly Branch[]>()

/** Reads the list again. */
export async function askBranches(signal?: AbortSignal): Promise<void> {
  branches.value = await listBranches(signal)
}

/** Makes a branch, by default of the trunk as it is. */
export async function startBranch(request: BranchRequest = {}): Promise<Branch> {
  const made = await createBranch(request)
  await askBranches()
  return made
}

/** Gives a branch another name, and with it another address. */
export async function renameBranch(name: string, to: string): Promise<void> {
  await rename(name, to)
  await askBranches()
}

export async function deleteBranch(name: string): Promise<void> {
  await removeBranch(name)
  await askBranches()
}

/** Shows a branch instead of this page, and starts it if it does not run. */
export async function openBranch(branch: Branch): Promise<void> {
  if (branch.state === 'stopped' || branch.state === 'failed') await start(branch.name)
  window.location.assign(branch.path)
}

/** The branch that this page shows: undefined on the trunk and before the first answer. */
export const ownBranch = shallowRef<OwnBranch>()

/** There is no such branch, or not any more. */
export const ownBranchGone = shallowRef(false)

/** Starts this page's branch again. */
export async function startOwnBranch(): Promise<void> {
  if (branchName) await start(branchName)
  await askOwnBranch()
}

async function askOwnBranch(): Promise<void> {
  try {
    ownBranch.value = await getOwnBranch()
    ownBranchGone.value = false
  } catch (error) {
    // Without an answer the trunk is away; the connection's badge says so.
    if (error instanceof ApiError && error.code === 404) ownBranchGone.value = true
  }
}

/** Keeps ownBranch up to date while the page is open, and starts the branch once if it is stopped. */
export function followOwnBranch(): void {
  if (!branchName) return
  let asked = false
  let asking = false
  const follow = async () => {
    if (asking || document.hidden) return
    asking = true
    await askOwnBranch()
    if (!asked && ownBranch.value?.state === 'stopped') await startOwnBranch().catch(() => {})
    asked ||= ownBranch.value !== undefined
    asking = false
  }
  useIntervalFn(() => void follow(), 1000, { immediateCallback: true })
}
