// The revision that is open in the dialog, kept in the URL.

import { computed, type ComputedRef } from 'vue'
import { useQuery } from '@/ui/query'
import type { Apply } from './useApply'

export interface RevisionDialog {
  /** undefined if none is open. */
  open: ComputedRef<number | undefined>
  show(revision: number): void
  close(): void
  /** Applies the revision again and closes the dialog if that succeeds. */
  applyAgain(revision: number): Promise<void>
  /** Starts the draft from the revision's document. */
  edit(document: string, revision: number): void
}

export function useRevisionDialog(
  { failed, again }: Pick<Apply, 'failed' | 'again'>,
  startFrom: (document: string, origin: string) => void
): RevisionDialog {
  const query = useQuery('revision')
  return {
    open: computed(() => (/^\d+$/.test(query.value) ? Number(query.value) : undefined)),
    show(revision) {
      query.value = String(revision)
    },
    close() {
      query.value = ''
      failed.value = undefined
    },
    async applyAgain(revision) {
      if (await again(revision)) query.value = ''
    },
    edit(document, revision) {
      query.value = ''
      startFrom(document, String(revision))
    },
  }
}
