// Creates the sample cluster on request.

import { useI18n } from 'vue-i18n'
import { advanceTour } from '@/features/tour/store/tour'
import { notify } from '@/ui/notices'
import { useAttempt, type Attempt } from '@/ui/useAttempt'
import { createSample } from './store/sample'

export function useSampleCluster(): Pick<Attempt, 'busy' | 'error'> & { create: () => Promise<boolean> } {
  const { t } = useI18n()
  const { busy, error, attempt } = useAttempt()
  const create = () =>
    attempt(async () => {
      notify('done', t('cluster.sampleDone', { n: await createSample() }))
      advanceTour('sample')
    })
  return { busy, error, create }
}
