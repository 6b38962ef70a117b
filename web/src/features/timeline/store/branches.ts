// The branches that the time line lists, followed while its page is open.

import { useIntervalFn } from '@vueuse/core'
import { computed, shallowRef } from 'vue'
import { ApiError } from '@/api/http'
import { askBranches, branches } from '@/features/branch/store/branches'

export const branchesError = shallowRef<unknown>()
/** The server has no branches, as when it follows a cluster that it does not own. */
export const branchesServed = computed(() => branches.value !== undefined)
/** Those that the user made; a lesson's sandbox belongs to its lesson. */
export const ownBranches = computed(() => branches.value?.filter(({ purpose }) => purpose === 'branch'))

export async function readBranches(): Promise<void> {
  try {
    await askBranches()
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
    { immediateCallback: true },
  )
}
