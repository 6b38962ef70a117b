// The dialogs about presets of one's own: saving the draft as one, and dropping one.

import { ref, type Ref } from 'vue'
import { useI18n } from 'vue-i18n'
import { notify } from '@/ui/notices'
import { draft } from './store/configuration'
import { dropPreset, keepPreset } from './store/ownPresets'

export interface OwnPresets {
  saving: Ref<boolean>
  /** The browser could not keep the last one. */
  notKept: Ref<boolean>
  askToSave(): void
  save(name: string): void
  /** The name of the preset that is about to be dropped; '' when none is. */
  dropping: Ref<string>
  drop(): void
}

/** saved is called with the name of a preset that was kept. */
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
