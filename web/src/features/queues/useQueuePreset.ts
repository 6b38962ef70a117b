// Turns the queues on and applies a preset to them.

import { shallowRef, type ShallowRef } from 'vue'
import { getKueue, turnOnKueue } from '@/api/kueue'
import { applyObject } from '@/api/kubernetes'
import { isWorkloadOf, presets, type QueuePreset, type Step } from './model/presets'

/** How often a step looks for its workloads, and how often at most. */
const pause = 200
const looks = 100

async function admitted({ admits }: Step): Promise<void> {
  for (let i = 0; i < looks; i++) {
    const running = (await getKueue()).view?.running ?? []
    if (admits.every((name) => running.some(({ workload }) => isWorkloadOf(workload.name, name)))) return
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

export interface QueuePresets {
  /** The preset that is being applied; 'on' while the queues are only turned on. */
  busy: ShallowRef<QueuePreset | 'on' | undefined>
  failed: ShallowRef<unknown>
  turnOn(): Promise<void>
  apply(name: QueuePreset): Promise<void>
}

export function useQueuePresets(): QueuePresets {
  const busy = shallowRef<QueuePreset | 'on'>()
  const failed = shallowRef<unknown>()
  const run = async (what: QueuePreset | 'on', steps: readonly Step[]): Promise<void> => {
    if (busy.value) return
    busy.value = what
    failed.value = undefined
    try {
      await turnOnKueue()
      for (const step of steps) {
        for (const { kind, object } of step.objects) await applyObject(kind, object.metadata.namespace, object, {})
        await admitted(step)
      }
    } catch (error) {
      failed.value = error
    } finally {
      busy.value = undefined
    }
  }
  return { busy, failed, turnOn: () => run('on', []), apply: (name) => run(name, presets[name]) }
}
