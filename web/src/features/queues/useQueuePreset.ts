// Turns the queues on, and shows a preset in a workspace.

import { shallowRef } from 'vue'
import { turnOnKueue } from '@/api/kueue'
import { plays } from '@/features/branch/model/demonstration'
import { demonstrate } from '@/features/branch/store/demonstrate'
import { t } from '@/i18n'
import { useAttempt } from '@/ui/useAttempt'
import { presets, type QueuePreset } from './model/presets'

export function useQueuePresets() {
  /** The preset whose workspace is being opened; 'on' while the queues are turned on. */
  const busy = shallowRef<QueuePreset | 'on'>()
  const { error: failed, attempt } = useAttempt()
  const work = async (what: QueuePreset | 'on', action: () => Promise<unknown>): Promise<void> => {
    if (busy.value) return
    busy.value = what
    await attempt(action)
    busy.value = undefined
  }
  return {
    busy,
    failed,
    turnOn: () => work('on', turnOnKueue),
    apply: (name: QueuePreset) =>
      work(name, () =>
        demonstrate(
          t('branch.demonstration', { name: t(`batch.preset.${name}.title`) }),
          [{ method: 'PUT', path: '/api/v1/kueue' }, plays(name, presets[name])],
          'batch/queues'
        )
      ),
  }
}
