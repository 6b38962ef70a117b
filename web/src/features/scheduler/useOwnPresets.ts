// The dialogs for the user's presets: saving the draft as a preset, and deleting a preset.

import { ref, type Ref } from 'vue'
import { useI18n } from 'vue-i18n'
import { notify } from '@/ui/notices'
import { draft } from './store/configuration'
import { dropPreset, keepPreset } from './store/ownPresets'

export interface OwnPresets {
  saving: Ref<boolean>
  /** The browser could not store the last one. */
  notKept: Ref<boolean>
  askToSave(): void
  save(name: string): void
  /** The name of the preset that waits for confirmation of its deletion; '' for none. */
  dropping: Ref<string>
  drop(): void
}

/** saved is called with the name of a stored preset. */
export function useOwnPresets(saved: (name: string) => void): OwnPresets {
  const { t } = useI18n()
  const saving = ref(false)
  const notKept = ref(false)
  const dropping = ref('')
  return {
    saving,
    notKept,
    askToSave() {
      notKept.value = false
      saving.value = true
    },
    save(name) {
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
