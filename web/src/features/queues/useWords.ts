// What the parts of the page say in the same way.

import { useI18n } from 'vue-i18n'
import type { AdmissionHead, AdmissionReason, PendingWorkload } from '@/api/types'
import { reasonText } from './model/reason'

export function useWords() {
  const { t } = useI18n()
  const why = (reason: AdmissionReason | undefined): string => reasonText(reason, (key, named, n) => (n === undefined ? t(key, named) : t(key, named, n)))
  return {
    why,
    waits: ({ reason }: PendingWorkload): string => why(reason),
    outcome: ({ outcome }: AdmissionHead): string => t(`queues.outcome.${outcome}`),
  }
}
