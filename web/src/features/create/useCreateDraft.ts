// The draft of the create dialog, and the templates that it can start from. Text that the
// user has written is replaced only after confirmation.

import { computed, onMounted, ref, watch } from 'vue'
import { templates } from './model/templates'
import { copies, currentFreeNames, draft, draftTemplate, wanted, type Wanted } from './store/create'
import { droppedFiles, removeFiles } from './store/files'

export type CreateDraft = ReturnType<typeof useCreateDraft>

export function useCreateDraft() {
  /** A template or text that waits for confirmation to replace the draft. */
  const asking = ref<Wanted>()
  let pristine = ''
  const textOf = (from: Wanted) =>
    'text' in from ? from.text : (templates.find((x) => x.id === from.template)?.make(currentFreeNames()).text ?? '')
  const changed = () => draft.value.trim() !== '' && draft.value !== pristine && !draftTemplate.value

  function choose(from: Wanted) {
    if (changed()) asking.value = from
    else replace(from)
  }
  function replace(from: Wanted) {
    asking.value = undefined
    pristine = textOf(from)
    draft.value = pristine
    draftTemplate.value = 'template' in from ? from.template : undefined
  }
  /**
   * Applies the start that another part of the page requested. A template never replaces a changed
   * draft; a text, such as a clone, asks first. Returns whether it applied.
   */
  function takeWanted(): boolean {
    const from = wanted.value
    wanted.value = undefined
    if (!from || !('text' in from || !changed())) return false
    choose(from)
    return true
  }

  watch(draft, (value) => {
    if (value !== pristine) draftTemplate.value = undefined
  })
  watch(wanted, takeWanted, { flush: 'post' })
  onMounted(() => {
    if (takeWanted()) return
    if (!draft.value.trim() && !droppedFiles.value.length) replace({ template: 'pod' })
    else if (draftTemplate.value) replace({ template: draftTemplate.value })
  })

  return {
    /** The template that the draft still equals. Setting it may ask for confirmation first. */
    template: computed({
      get: () => draftTemplate.value,
      set: (id) => id && choose({ template: id }),
    }),
    asking,
    replace,
    append(from: Wanted) {
      asking.value = undefined
      draft.value = `${draft.value.trimEnd()}\n---\n${textOf(from)}`
    },
    clear() {
      draft.value = ''
      pristine = ''
      draftTemplate.value = undefined
      copies.value = 1
      removeFiles()
    },
  }
}
