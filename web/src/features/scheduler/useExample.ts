// Applies a preset and creates a small cluster that shows what it does.

import { shallowRef, type ShallowRef } from 'vue'
import { useI18n } from 'vue-i18n'
import { useRouter, type RouteLocationRaw } from 'vue-router'
import { applyConfiguration } from '@/api/configuration'
import { lazily } from '@/ui/lazily'
import { notify } from '@/ui/notices'
import { examples, presets, type PresetName } from './model/presets'
import { nowRuns } from './store/configuration'

const fromTemplate = lazily(() => import('@/features/create/store/fromTemplate'))

export interface Example {
  /** The preset that is being tried. */
  trying: ShallowRef<PresetName | undefined>
  /** Resolves when the objects exist and are shown, or with failed set. */
  tryPreset(name: PresetName): Promise<void>
}

/** `shown` is where the example's decisions can be seen. */
export function useExample(
  failed: ShallowRef<unknown>,
  applied: () => void,
  shown: RouteLocationRaw = { name: 'decisions' }
): Example {
  const { t } = useI18n()
  const router = useRouter()
  const trying = shallowRef<PresetName>()
  return {
    trying,
    async tryPreset(name) {
      const template = examples[name]
      if (!template || trying.value) return
      trying.value = name
      failed.value = undefined
      try {
        const { revision } = await applyConfiguration(presets[name])
        nowRuns(revision.number, presets[name])
        applied()
        await (await fromTemplate()).createFromTemplate(template)
        notify('done', t('scheduler.triedPreset', { name: t(`scheduler.preset.${name}.title`), n: revision.number }))
        await router.push(shown)
      } catch (error) {
        failed.value = error
      } finally {
        trying.value = undefined
      }
    },
  }
}
