// Files that the user drops on the dialog or chooses: small ones are appended to the draft, large
// ones are listed beside it.

import { ref } from 'vue'
import { messageOf } from '@/api/message'
import { t } from '@/i18n'
import { notify } from '@/ui/notices'
import { draft, draftTemplate } from './store/create'
import { addFile, editorLimit, fileLimit } from './store/files'

export type FileDrop = ReturnType<typeof useFileDrop>

export function useFileDrop() {
  const over = ref(false)

  async function take(files: readonly File[]) {
    const texts: string[] = []
    // Files replace an unchanged template.
    if (files.length && draftTemplate.value) draft.value = ''
    for (const file of files) {
      if (file.size > fileLimit)
        notify(
          'failed',
          t('create.tooBig', { name: file.name, size: (file.size / 2 ** 20).toFixed(0), max: fileLimit / 2 ** 20 })
        )
      else if (file.size > editorLimit) addFile(file)
      else {
        try {
          texts.push((await file.text()).trimEnd())
        } catch (error) {
          notify('failed', t('create.fileUnread', { message: messageOf(error) }))
        }
      }
    }
    if (!texts.length) return
    draft.value = [...(draft.value.trim() ? [draft.value.trimEnd()] : []), ...texts].join('\n---\n') + '\n'
    notify('done', t('create.dropped', texts.length))
  }

  return {
    over,
    take,
    onDrop(event: DragEvent) {
      over.value = false
      void take([...(event.dataTransfer?.files ?? [])])
    },
    /** Handles a file input, and resets it so that the same file can be chosen again. */
    onPick(event: Event) {
      const input = event.target as HTMLInputElement
      void take([...(input.files ?? [])])
      input.value = ''
    },
  }
}
