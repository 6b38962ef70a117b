// Branches: simulators beside the trunk, each with a cluster of its own. The trunk answers for all
// of them, so these calls go there, wherever this page is.

import { base } from './base'
import { bodyOf, client, trunkClient } from './client'
import type { Branch, BranchComparison, BranchRequest, OwnBranch } from './schema'

export type { Branch, BranchCall, OwnBranch, BranchRequest, BranchComparison, BranchSide } from './schema'

export async function listBranches(signal?: AbortSignal): Promise<Branch[]> {
  return (await bodyOf(trunkClient.GET('/api/v1/branches', { signal }))).items
}

/** Makes a branch and starts it. The answer comes while it is starting. */
export function createBranch(branch: BranchRequest): Promise<Branch> {
  return bodyOf(trunkClient.POST('/api/v1/branches', { body: branch }))
}

export function startBranch(name: string): Promise<Branch> {
  return bodyOf(trunkClient.POST('/api/v1/branches/{name}/start', { params: { path: { name } } }))
}

/** Resolves when the branch has stopped. */
export function stopBranch(name: string): Promise<Branch> {
  return bodyOf(trunkClient.POST('/api/v1/branches/{name}/stop', { params: { path: { name } } }))
}

export function retitleBranch(name: string, title: string): Promise<Branch> {
  return bodyOf(trunkClient.PATCH('/api/v1/branches/{name}', { params: { path: { name } }, body: { title } }))
}

/**
 * Gives the trunk the state of a branch that runs; a new branch of this title keeps what it had.
 * Resolves when the trunk has all of it.
 */
export async function promoteBranch(name: string, title: string): Promise<void> {
  await bodyOf(trunkClient.POST('/api/v1/branches/{name}/promote', { params: { path: { name } }, body: { title } }))
}

export async function deleteBranch(name: string): Promise<void> {
  await trunkClient.DELETE('/api/v1/branches/{name}', { params: { path: { name } } })
}

/**
 * The branch that this page shows; undefined on the trunk. Throws ApiError 404 for one that does
 * not exist.
 */
export async function getOwnBranch(signal?: AbortSignal): Promise<OwnBranch | undefined> {
  return base ? bodyOf(client.GET('/api/v1/branch', { signal })) : undefined
}

/** Compares two branches that run; '' is the trunk. */
export function compareBranches(a: string, b: string, signal?: AbortSignal): Promise<BranchComparison> {
  return bodyOf(trunkClient.GET('/api/v1/branches/compare', { params: { query: { a, b } }, signal }))
}
