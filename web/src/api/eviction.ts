// Evicting pods, which unlike deletion respects PodDisruptionBudgets.

import { ApiError, ignored, request } from './http'
import { pathOf } from './kubernetes'
import type { KindInfo, Pod } from './types'

const pods: KindInfo = { group: '', version: 'v1', kind: 'Pod', resource: 'pods', namespaced: true, verbs: [] }

/** refused: a disruption budget does not allow it now. gone: the pod no longer exists. */
export type Eviction = { kind: 'evicted' | 'gone' } | { kind: 'refused'; message: string }

/**
 * Evicts exactly this pod, not another one with its name; a dry run only asks whether its
 * budgets allow it now. Throws ApiError for any failure other than a disruption budget.
 */
export async function evictPod(pod: Pod, dryRun = false, action?: string): Promise<Eviction> {
  const { namespace = 'default', name, uid } = pod.metadata
  const deleteOptions = { ...(uid ? { preconditions: { uid } } : {}), ...(dryRun ? { dryRun: ['All'] } : {}) }
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name }, deleteOptions }
  try {
    await request(`${pathOf(pods, namespace, name)}/eviction`, ignored, { method: 'POST', body, action })
    return { kind: 'evicted' }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    // A conflict means that another pod now has the name.
    if (error.code === 404 || error.code === 409) return { kind: 'gone' }
    if (error.code !== 429) throw error
    return {
      kind: 'refused',
      message:
        error.causes
          .map((c) => c.message)
          .filter(Boolean)
          .join(' ') || error.message,
    }
  }
}
