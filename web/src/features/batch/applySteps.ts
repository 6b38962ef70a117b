// Applies a preset step by step.

import { applyObject } from '@/api/kubernetes'
import type { Made } from './model/steps'

/** How often something is looked for (ms), and how often at most. */
const pause = 200
const looks = 150

/**
 * Resolves when it is there, or after a while: a preset that differs from its promise still shows
 * something.
 */
export async function until(there: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < looks; i++) {
    if (await there()) return
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

/** Creates the objects of each step, and goes on when it is done. */
export async function applySteps<Step extends { objects: readonly Made[] }>(
  steps: readonly Step[],
  done: (step: Step) => Promise<boolean>
): Promise<void> {
  for (const step of steps) {
    for (const { kind, object } of step.objects) await applyObject(kind, object.metadata.namespace, object, {})
    await until(() => done(step))
  }
}
