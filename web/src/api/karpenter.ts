// Karpenter beside the scheduler: the switch, its cloud, and what it did.

import { bodyOf, client } from './client'
import type { Karpenter, KarpenterSettings } from './types'

export const getKarpenter = (signal?: AbortSignal): Promise<Karpenter> =>
  bodyOf(client.GET('/api/v1/karpenter', { signal }))

/** Turning it on installs Karpenter's kinds. */
export const configureKarpenter = (settings: KarpenterSettings): Promise<Karpenter> =>
  bodyOf(client.PUT('/api/v1/karpenter', { body: settings }))

/** Takes the spot instance of a node back after the usual notice. */
export const interruptNode = (node: string): Promise<Karpenter> =>
  bodyOf(client.POST('/api/v1/karpenter/interruptions', { body: { node } }))
