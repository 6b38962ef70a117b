// The branch that this page shows.

import { useIntervalFn } from '@vueuse/core'
import { computed, shallowRef } from 'vue'
import { branchName } from '@/api/base'
import { getOwnBranch, startBranch, type OwnBranch } from '@/api/branches'
import { ApiError } from '@/api/http'

/** undefined on the trunk and before the first answer. */
export const ownBranch = shallowRef<OwnBranch>()

/** There is no such branch, or not any more. */
export const ownBranchGone = shallowRef(false)

/** The trunk answers for a branch that does not run with errors only. */
export const branchServed = (): boolean => !branchName || ownBranch.value?.state === 'running'

export async function startOwnBranch(): Promise<void> {
  if (branchName) await startBranch(branchName)
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

/** A branch that runs is asked for now and then, another one closely (ms). */
const slow = 5000
const quick = 1000

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
  useIntervalFn(
    () => void follow(),
    computed(() => (ownBranch.value?.state === 'running' ? slow : quick)),
    { immediateCallback: true }
  )
}
