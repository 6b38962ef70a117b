// The branches of the trunk: the list, and what can be done with one.

import { useIntervalFn } from '@vueuse/core'
import { computed, shallowRef } from 'vue'
import {
  createBranch,
  deleteBranch as removeBranch,
  listBranches,
  renameBranch as rename,
  startBranch as start,
  type Branch,
  type BranchRequest,
} from '@/api/branches'
import { ApiError } from '@/api/http'

/** undefined before the first answer. */
export const branches = shallowRef<readonly Branch[]>()
export const branchesError = shallowRef<unknown>()
/** The server has no branches, as when it follows a cluster that it does not own. */
export const branchesServed = computed(() => branches.value !== undefined)
/** Those that the user made; a lesson's sandbox belongs to its lesson. */
export const ownBranches = computed(() => branches.value?.filter(({ purpose }) => purpose === 'branch'))

/** Reads the list again. */
export async function readBranches(): Promise<void> {
  try {
    branches.value = await listBranches()
    branchesError.value = undefined
  } catch (error) {
    branchesError.value = error instanceof ApiError && (error.code === 404 || error.code === 501) ? undefined : error
  }
}

/** A branch that starts is watched closely, others now and then (ms). */
const quick = 500
const slow = 5000

/** Follows the list while the calling component lives. */
export function followBranches(): void {
  const starting = computed(() => branches.value?.some(({ state }) => state === 'starting') ?? false)
  useIntervalFn(
    () => document.hidden || void readBranches(),
    computed(() => (starting.value ? quick : slow)),
    { immediateCallback: true }
  )
}

/** Makes a branch, by default of the trunk as it is. */
export async function startBranch(request: BranchRequest = {}): Promise<Branch> {
  const made = await createBranch(request)
  await readBranches()
  return made
}

/** Gives a branch another name, and with it another address. */
export async function renameBranch(name: string, to: string): Promise<void> {
  await rename(name, to)
  await readBranches()
}

export async function deleteBranch(name: string): Promise<void> {
  await removeBranch(name)
  await readBranches()
}

/** Shows a branch instead of this page, and starts it if it does not run. */
export async function openBranch(branch: Branch): Promise<void> {
  if (branch.state === 'stopped' || branch.state === 'failed') await start(branch.name)
  window.location.assign(branch.path)
}
