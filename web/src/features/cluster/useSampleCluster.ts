// Creates the sample cluster on request.

import { t } from '@/i18n'
import { notify } from '@/ui/notices'
import { useAttempt, type Attempt } from '@/ui/useAttempt'
import { createSample } from './store/sample'

export function useSampleCluster(): Pick<Attempt, 'busy' | 'error'> & { create: () => Promise<boolean> } {
  const { busy, error, attempt } = useAttempt()
  const create = () =>
    attempt(async () => {
      notify('done', t('cluster.sampleDone', { n: await createSample() }))
    })
  return { busy, error, create }
}
