// Turns the queues on and applies a preset to them.

import { shallowRef, type ShallowRef } from 'vue'
import { getKueue, turnOnKueue } from '@/api/kueue'
import { applySteps } from '@/features/batch/applySteps'
import { useAttempt } from '@/ui/useAttempt'
import { isDone, presets, type QueuePreset, type Step } from './model/presets'

export interface QueuePresets {
  /** The preset that is being applied; 'on' while the queues are only turned on. */
  busy: ShallowRef<QueuePreset | 'on' | undefined>
  failed: ShallowRef<unknown>
  turnOn(): Promise<void>
  apply(name: QueuePreset): Promise<void>
}

export function useQueuePresets(): QueuePresets {
  const busy = shallowRef<QueuePreset | 'on'>()
  const { error: failed, attempt } = useAttempt()
  const run = async (what: QueuePreset | 'on', steps: readonly Step[]): Promise<void> => {
    if (busy.value) return
    busy.value = what
    await attempt(async () => {
      await turnOnKueue()
      await applySteps(steps, async (step) => {
        const { view } = await getKueue()
        return view !== undefined && isDone(step, view)
      })
    })
    busy.value = undefined
  }
  return { busy, failed, turnOn: () => run('on', []), apply: (name) => run(name, presets[name]) }
}
