// The branches of the trunk: the list, and what can be done with one.

import { promiseTimeout, useIntervalFn } from '@vueuse/core'
import { computed, shallowRef } from 'vue'
import { prefixOf } from '@/api/base'
import {
  createBranch,
  deleteBranch as removeBranch,
  listBranches,
  retitleBranch,
  startBranch as start,
  stopBranch,
  type Branch,
  type BranchRequest,
} from '@/api/branches'
import { ApiError } from '@/api/http'
import { t } from '@/i18n'

/** undefined before the first answer. */
export const branches = shallowRef<readonly Branch[]>()
export const branchesError = shallowRef<unknown>()
/** The server has no branches, as when it follows a cluster that it does not own. */
export const branchesServed = computed(() => branches.value !== undefined)
/** Those that the user made; a lesson's sandbox belongs to its lesson. */
export const ownBranches = computed(() => branches.value?.filter(({ purpose }) => purpose !== 'lesson'))

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

/** Changes what people call a branch. */
export async function retitle(name: string, title: string): Promise<void> {
  await retitleBranch(name, title)
  await readBranches()
}

/** Stops a branch, which keeps all that it has. */
export async function putToSleep(name: string): Promise<void> {
  await stopBranch(name)
  await readBranches()
}

export async function deleteBranch(name: string): Promise<void> {
  await removeBranch(name)
  await readBranches()
}

/** Makes a workspace and shows it at once, on a page of it; what it does until it runs can be seen there. */
export async function enterNew(request: BranchRequest, page = ''): Promise<void> {
  const made = await createBranch(request)
  window.location.assign(made.path + page)
}

/**
 * Makes a workspace and brings something into it once it runs, at what its addresses begin with.
 * Nothing else remains of a workspace for which that fails.
 */
export async function makeWith(
  request: BranchRequest,
  bring: (at: string) => Promise<void>,
  signal: AbortSignal
): Promise<Branch> {
  const made = await createBranch(request)
  try {
    for (let now = made; now.state !== 'running';) {
      await promiseTimeout(quick)
      signal.throwIfAborted()
      const found = (await listBranches(signal)).find(({ name }) => name === made.name)
      if (!found) throw new Error(t('branch.gone'))
      if (found.state === 'failed') throw new Error(t('branch.failed', { message: found.message ?? '' }))
      now = found
    }
    await bring(prefixOf(made.name))
    return made
  } catch (error) {
    // One that cannot be deleted stays in the list, where the user can close it.
    await removeBranch(made.name).catch(() => {})
    throw error
  } finally {
    void readBranches()
  }
}

/** Shows a page of a branch instead of this one, and starts the branch if it does not run. */
export async function openBranch(branch: Branch, page = ''): Promise<void> {
  if (branch.state === 'stopped' || branch.state === 'failed') await start(branch.name)
  window.location.assign(branch.path + page)
}
