// Branches: simulators of their own, each started from a moment of this one or for a lesson.

import { request, ignored } from './http'

export interface Branch {
  name: string
  purpose: 'branch' | 'lesson'
  lesson?: string
  /** The moment of the trunk that it started from. */
  from?: { time: string; moment: number }
  createdAt: string
  state: 'starting' | 'running' | 'stopped' | 'failed'
  /** What a starting branch does, or why it failed. */
  message?: string
  /** Where its pages are: /branches/NAME/. */
  path: string
  kubeconfig: string
  /** On disk. */
  bytes: number
  memoryBytes?: number
}

/** One side of a comparison; the name of the trunk is ''. Shares are parts of 1. */
export interface BranchSide {
  name: string
  nodes: number
  pods: number
  pending: number
  cpuShare: number
  memoryShare: number
}

export interface BranchComparison {
  a: BranchSide
  b: BranchSide
  /** Pods that the two sides placed differently, or that only one has. Without a node they are pending. */
  pods: { namespace: string; name: string; a?: string; b?: string; onlyIn?: 'a' | 'b' }[]
  configuration: { path: string; a?: unknown; b?: unknown }[]
  truncated?: boolean
}

const path = '/api/v1/branches'
const of = (name: string) => `${path}/${encodeURIComponent(name)}`
const as = <T>(body: unknown) => body as T

export function listBranches(signal?: AbortSignal): Promise<Branch[]> {
  return request(path, (body) => (body as { items: Branch[] }).items, { signal })
}

/** Starts a simulator with the state at a moment; without one, with the state now. The answer comes while it starts. */
export function createBranch(branch: { name?: string; at?: number }): Promise<Branch> {
  return request(path, as<Branch>, { method: 'POST', body: branch })
}

export function startBranch(name: string): Promise<Branch> {
  return request(`${of(name)}/start`, as<Branch>, { method: 'POST' })
}

export function stopBranch(name: string): Promise<Branch> {
  return request(`${of(name)}/stop`, as<Branch>, { method: 'POST' })
}

/** Stops it and removes its data. */
export function deleteBranch(name: string): Promise<void> {
  return request(of(name), ignored, { method: 'DELETE' })
}

export function compareBranches(a: string, b: string, signal?: AbortSignal): Promise<BranchComparison> {
  return request(`${path}/compare?${new URLSearchParams({ a, b })}`, as<BranchComparison>, { signal })
}
