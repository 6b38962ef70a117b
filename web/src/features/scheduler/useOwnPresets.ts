// The dialogs for the user's presets: saving the draft as a preset, and deleting a preset.

import { ref } from 'vue'
import { t } from '@/i18n'
import { notify } from '@/ui/notices'
import { draft } from './store/configuration'
import { dropPreset, keepPreset } from './store/ownPresets'

export type OwnPresets = ReturnType<typeof useOwnPresets>

/** saved is called with the name of a stored preset. */
export function useOwnPresets(saved: (name: string) => void) {
  const saving = ref(false)
  /** The browser could not store the last one. */
  const notKept = ref(false)
  /** The name of the preset that waits for confirmation of its deletion; '' for none. */
  const dropping = ref('')
  return {
    saving,
    notKept,
    askToSave() {
      notKept.value = false
      saving.value = true
    },
    save(name: string) {
      notKept.value = !keepPreset({ name, text: draft.value?.text ?? '' })
      if (notKept.value) return
      saving.value = false
      saved(name)
      notify('done', t('scheduler.presetSaved', { name }))
    },
    dropping,
    drop() {
      if (dropPreset(dropping.value)) dropping.value = ''
    },
  }
}
