// Turns the schedulers on or off, and shows a preset in a workspace.

import { shallowRef } from 'vue'
import { useRouter } from 'vue-router'
import type { BranchCall } from '@/api/branches'
import { changeSessions } from '@/api/sessions'
import { plays } from '@/features/branch/model/demonstration'
import { demonstrate } from '@/features/branch/store/demonstrate'
import { t } from '@/i18n'
import { useAttempt } from '@/ui/useAttempt'
import { dialects } from './model/configurations'
import { presets, queueKinds, type Preset, type SessionPreset } from './model/presets'

/** The schedulers install their kinds and then create these queues. */
const served = dialects
  .map((rules) => `objects("Queue.${queueKinds[rules].group}").exists(q, q.metadata.name == "default")`)
  .join(' && ')

const turn = (enabled: boolean): BranchCall => ({ method: 'PATCH', path: '/api/v1/sessions', body: { enabled } })

/** A session in the middle would see a part of the cluster only, so the schedulers wait for the whole. */
const setup = (name: string, { configuration, steps }: Preset): BranchCall[] => [
  turn(true),
  plays('served', [{ objects: [], until: served }]),
  turn(false),
  ...(configuration
    ? [
        {
          method: 'PUT' as const,
          path: `/api/v1/sessions/configuration/${configuration.rules}`,
          body: configuration.document,
        },
      ]
    : []),
  plays(name, steps),
  turn(true),
]

export function usePresets(done: () => void) {
  const router = useRouter()
  /** The preset whose workspace is being opened; 'on' while the schedulers are turned on or off. */
  const busy = shallowRef<SessionPreset | 'on'>()
  const { error: failed, attempt } = useAttempt()
  const work = async (what: SessionPreset | 'on', action: () => Promise<unknown>): Promise<void> => {
    if (busy.value) return
    busy.value = what
    await attempt(action)
    busy.value = undefined
    done()
  }
  return {
    busy,
    failed,
    turnOn: () => work('on', () => changeSessions({ enabled: true })),
    turnOff: () => work('on', () => changeSessions({ enabled: false })),
    apply: (name: SessionPreset) =>
      work(name, () =>
        demonstrate(
          t('branch.demonstration', { name: t(`batch.preset.${name}.title`) }),
          setup(name, presets[name]),
          router.resolve({ name: 'sessions', query: presets[name].show }).fullPath.slice(1)
        )
      ),
  }
}
