// Shows what a preset does, in a workspace with a small cluster.

import { shallowRef, type ShallowRef } from 'vue'
import { useRouter, type RouteLocationRaw } from 'vue-router'
import { demonstrate } from '@/features/branch/store/demonstrate'
import { plays } from '@/features/branch/model/demonstration'
import { t } from '@/i18n'
import { lazily } from '@/ui/lazily'
import { examples, presets, type PresetName } from './model/presets'

const templateObjects = lazily(() => import('@/features/create/model/templateObjects'))

/** `shown` is where the example's decisions can be seen. */
export function useExample(failed: ShallowRef<unknown>, shown: RouteLocationRaw = { name: 'decisions' }) {
  const router = useRouter()
  const trying = shallowRef<PresetName>()
  return {
    trying,
    /** Leaves this page for the workspace, or resolves with failed set. */
    async tryPreset(name: PresetName) {
      const template = examples[name]
      if (!template || trying.value) return
      trying.value = name
      failed.value = undefined
      try {
        const objects = (await templateObjects()).objectsOf(template)
        const title = t('branch.demonstration', { name: t(`scheduler.preset.${name}.title`) })
        await demonstrate(title, [plays(name, [{ objects }], presets[name])], router.resolve(shown).fullPath.slice(1))
      } catch (error) {
        failed.value = error
      } finally {
        trying.value = undefined
      }
    },
  }
}
