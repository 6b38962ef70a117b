// Kueue's admission: the switch, the ledger, admission checks and suggestions.

import { bodyOf, client } from './client'
import type {
  AdmissionCheckState,
  AdmissionEntry,
  AdmissionSuggestions,
  Kueue,
  KueueConfiguration,
  WorkloadRef,
} from './types'

export const getKueue = (signal?: AbortSignal): Promise<Kueue> => bodyOf(client.GET('/api/v1/kueue', { signal }))

/** Installs Kueue's kinds. Its admission stays on. */
export const turnOnKueue = (): Promise<Kueue> => bodyOf(client.PUT('/api/v1/kueue'))

/** Replaces Kueue's configuration. The controllers restart with it. */
export const configureKueue = (configuration: KueueConfiguration): Promise<Kueue> =>
  bodyOf(client.PUT('/api/v1/kueue/configuration', { body: configuration }))

export interface AdmissionPage {
  items: readonly AdmissionEntry[]
  continue: string
}

/** The entries of the ledger that have the workload among their heads, newest first. */
export const listAdmissions = (workload: WorkloadRef, signal?: AbortSignal): Promise<AdmissionPage> =>
  bodyOf(
    client.GET('/api/v1/admissions', {
      params: { query: { namespace: workload.namespace, name: workload.name, limit: 50 } },
      signal,
    })
  )

export const flipCheck = (workload: WorkloadRef, check: string, state: AdmissionCheckState): Promise<Kueue> =>
  bodyOf(
    client.PUT('/api/v1/kueue/checks', {
      body: { namespace: workload.namespace, workload: workload.name, check, state },
    })
  )

export const suggestAdmission = (workload: WorkloadRef, signal?: AbortSignal): Promise<AdmissionSuggestions> =>
  bodyOf(
    client.POST('/api/v1/kueue/whatif', { body: { namespace: workload.namespace, workload: workload.name }, signal })
  )
