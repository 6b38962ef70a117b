// The draft of the create dialog and the templates that it starts from. A draft that a
// person has written is replaced only with their consent.

import { computed, onMounted, ref, watch, type Ref, type WritableComputedRef } from 'vue'
import { templates, type TemplateId } from './model/templates'
import { copies, currentFreeNames, draft, draftTemplate, wanted, type Wanted } from './store/create'
import { droppedFiles, removeFiles } from './store/files'

export interface CreateDraft {
  /** The template that the draft is an unchanged copy of. Choosing one may ask first. */
  template: WritableComputedRef<TemplateId | undefined>
  /** A template or text that replaces the draft once the person agrees. */
  asking: Ref<Wanted | undefined>
  replace(from: Wanted): void
  /** Adds a document behind the draft. */
  append(from: Wanted): void
  /** Forgets the draft, its copies and the files. */
  clear(): void
}

export function useCreateDraft(): CreateDraft {
  const asking = ref<Wanted>()
  /** The text that the draft started as. */
  let pristine = ''
  const textOf = (from: Wanted) => ('text' in from ? from.text : (templates.find((x) => x.id === from.template)?.text(currentFreeNames()) ?? ''))
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
  /** A template that was asked for in passing does not replace a draft; a clone asks. Returns whether something was asked for. */
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
    template: computed({
      get: () => draftTemplate.value,
      set: (id) => id && choose({ template: id }),
    }),
    asking,
    replace,
    append(from) {
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
