// Turns the schedulers on or off, and applies a preset.

import { shallowRef, type ShallowRef } from 'vue'
import { useRouter } from 'vue-router'
import { applyObject, discover, getObject, namesOf } from '@/api/kubernetes'
import { applySessionConfiguration, changeSessions } from '@/api/sessions'
import { podKind } from '@/kubernetes/kinds'
import { dialects } from './model/configurations'
import { presets, queueKinds, type Preset, type SessionPreset } from './model/presets'

/** How often something is looked for (ms), and how often at most. */
const pause = 200
const looks = 150

async function until(there: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < looks; i++) {
    if (await there()) return
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

/** The schedulers install their kinds and then create these queues. */
const served = () =>
  until(async () => {
    const kinds = await discover()
    const queues = dialects.map((rules) => queueKinds[rules])
    if (!queues.every(({ group, resource }) => kinds.some((kind) => kind.group === group && kind.resource === resource))) return false
    return (await Promise.all(queues.map(namesOf))).every((names) => names.includes('default'))
  })

interface PodPart {
  status?: { phase?: string }
}

/** Resolves when the pods run; a preset's next step may count on them. */
const run = (names: readonly string[]) =>
  until(async () => {
    for (const name of names) {
      const { status } = (await getObject(podKind, 'default', name)) as PodPart
      if (status?.phase !== 'Running') return false
    }
    return true
  })

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
  const failed = shallowRef<unknown>()
  const work = async (what: SessionPreset | 'on', enabled: boolean, preset?: Preset): Promise<void> => {
    if (busy.value) return
    busy.value = what
    failed.value = undefined
    try {
      await changeSessions({ enabled })
      if (enabled) await served()
      if (preset) {
        // A session in the middle would see a part of the cluster only.
        await changeSessions({ enabled: false })
        if (preset.configuration) await applySessionConfiguration(preset.configuration.rules, preset.configuration.document)
        for (const { objects, placed } of preset.steps) {
          for (const { kind, object } of objects) await applyObject(kind, object.metadata.namespace, object, {})
          await run(placed)
        }
        await changeSessions({ enabled })
        await router.replace({ name: 'sessions', query: preset.show })
      }
    } catch (error) {
      failed.value = error
    } finally {
      busy.value = undefined
      done()
    }
  }
  return { busy, failed, turnOn: () => work('on', true), turnOff: () => work('on', false), apply: (name) => work(name, true, presets[name]) }
}
