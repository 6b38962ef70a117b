// The revision that is open in the dialog, kept in the URL.

import { computed } from 'vue'
import { useQuery } from '@/ui/query'
import type { Apply } from './useApply'

export type RevisionDialog = ReturnType<typeof useRevisionDialog>

export function useRevisionDialog(
  { failed, again }: Pick<Apply, 'failed' | 'again'>,
  startFrom: (document: string, origin: string) => void
) {
  const query = useQuery('revision')
  return {
    /** undefined if none is open. */
    open: computed(() => (/^\d+$/.test(query.value) ? Number(query.value) : undefined)),
    show(revision: number) {
      query.value = String(revision)
    },
    close() {
      query.value = ''
      failed.value = undefined
    },
    /** Applies the revision again and closes the dialog if that succeeds. */
    async applyAgain(revision: number) {
      if (await again(revision)) query.value = ''
    },
    edit(document: string, revision: number) {
      query.value = ''
      startFrom(document, String(revision))
    },
  }
}
