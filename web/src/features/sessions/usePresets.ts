// Turns the schedulers on or off, and applies a preset.

import { shallowRef, type ShallowRef } from 'vue'
import { useRouter } from 'vue-router'
import { discover, getObject, namesOf } from '@/api/kubernetes'
import { applySessionConfiguration, changeSessions } from '@/api/sessions'
import { applySteps, until } from '@/features/batch/applySteps'
import { podKind } from '@/kubernetes/kinds'
import { useAttempt } from '@/ui/useAttempt'
import { dialects } from './model/configurations'
import { presets, queueKinds, type Preset, type SessionPreset, type Step } from './model/presets'

/** The schedulers install their kinds and then create these queues. */
const served = () =>
  until(async () => {
    const kinds = await discover()
    const queues = dialects.map((rules) => queueKinds[rules])
    if (
      !queues.every(({ group, resource }) => kinds.some((kind) => kind.group === group && kind.resource === resource))
    )
      return false
    return (await Promise.all(queues.map(namesOf))).every((names) => names.includes('default'))
  })

interface PodPart {
  status?: { phase?: string }
}

/** The pods that the next step counts on run. */
async function runs({ placed }: Step): Promise<boolean> {
  for (const name of placed) {
    const { status } = (await getObject(podKind, 'default', name)) as PodPart
    if (status?.phase !== 'Running') return false
  }
  return true
}

export interface Presets {
  /** The preset that is being applied; 'on' while the schedulers are only turned on or off. */
  busy: ShallowRef<SessionPreset | 'on' | undefined>
  failed: ShallowRef<unknown>
  turnOn(): Promise<void>
  turnOff(): Promise<void>
  apply(name: SessionPreset): Promise<void>
}

export function usePresets(done: () => void): Presets {
  const router = useRouter()
  const busy = shallowRef<SessionPreset | 'on'>()
  const { error: failed, attempt } = useAttempt()
  const work = async (what: SessionPreset | 'on', enabled: boolean, preset?: Preset): Promise<void> => {
    if (busy.value) return
    busy.value = what
    await attempt(async () => {
      await changeSessions({ enabled })
      if (enabled) await served()
      if (!preset) return
      // A session in the middle would see a part of the cluster only.
      await changeSessions({ enabled: false })
      if (preset.configuration)
        await applySessionConfiguration(preset.configuration.rules, preset.configuration.document)
      await applySteps(preset.steps, runs)
      await changeSessions({ enabled })
      await router.replace({ name: 'sessions', query: preset.show })
    })
    busy.value = undefined
    done()
  }
  return {
    busy,
    failed,
    turnOn: () => work('on', true),
    turnOff: () => work('on', false),
    apply: (name) => work(name, true, presets[name]),
  }
}
