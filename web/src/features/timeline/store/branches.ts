// The branches of this simulator: their list, and starting and deleting them.

import { promiseTimeout, useIntervalFn } from '@vueuse/core'
import { computed, onScopeDispose, shallowRef } from 'vue'
import * as api from '@/api/branches'
import type { Branch } from '@/api/branches'
import { ApiError } from '@/api/http'
import { useTurns } from '@/live/answer'

/** undefined until the server has answered, or when it has no branches. */
export const branches = shallowRef<readonly Branch[]>()
export const branchesError = shallowRef<unknown>()

const turns = useTurns()

export async function askBranches(): Promise<void> {
  const signal = turns.next()
  try {
    const found = await api.listBranches(signal)
    if (signal.aborted) return
    branches.value = found
    branchesError.value = undefined
  } catch (error) {
    if (signal.aborted) return
    // A branch has no branches of its own.
    if (error instanceof ApiError && (error.code === 404 || error.code === 501)) branches.value = undefined
    else branchesError.value = error
  }
}

/** Those that the user made; a lesson's sandbox belongs to its lesson. */
export const ownBranches = computed(() => branches.value?.filter(({ purpose }) => purpose === 'branch'))

/** A starting branch is watched closely, others now and then (ms). */
const quick = 500
const slow = 5000

/** Follows the list while the calling scope lives. */
export function followBranches(): void {
  void askBranches()
  const { pause } = useIntervalFn(() => void askBranches(), () => (branches.value?.some(({ state }) => state === 'starting') ? quick : slow))
  onScopeDispose(pause)
}

export async function startBranch(branch: { name?: string; at?: number }): Promise<Branch> {
  const made = await api.createBranch(branch)
  await askBranches()
  return made
}

export async function deleteBranch(name: string): Promise<void> {
  await api.deleteBranch(name)
  await askBranches()
}

/** Opens a branch's pages, after starting it if it is stopped. Throws with the reason when it fails. */
export async function openBranch(branch: Branch): Promise<void> {
  let now = branch.state === 'stopped' || branch.state === 'failed' ? await api.startBranch(branch.name) : branch
  while (now.state === 'starting') {
    await promiseTimeout(quick)
    await askBranches()
    const found = branches.value?.find(({ name }) => name === branch.name)
    if (!found) return
    now = found
  }
  if (now.state !== 'running') throw new Error(now.message || now.state)
  window.location.assign(now.path)
}
