// The header of the pages below Batch: its views in a row.

import { t } from '@/i18n'
import { useCrumbs } from '@/ui/crumbs'

const views = ['queues', 'gangs', 'quotas', 'sessions', 'submit'] as const
export type BatchView = (typeof views)[number]

export function useBatchCrumbs(shown: BatchView): void {
  useCrumbs(
    () => [
      { text: t('nav.batch') },
      {
        text: t('batch.views'),
        views: views.map((view) => ({ text: t(`batch.view.${view}`), to: { name: view }, current: view === shown })),
      },
    ],
    t('app.name')
  )
}
