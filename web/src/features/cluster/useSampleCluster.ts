// Creates the sample cluster on request.

import { ref, shallowRef, type Ref, type ShallowRef } from 'vue'
import { useI18n } from 'vue-i18n'
import { advanceTour } from '@/features/tour/store/tour'
import { notify } from '@/ui/notices'
import { createSample } from './store/sample'

export function useSampleCluster(): { busy: Ref<boolean>; error: ShallowRef<unknown>; create: () => Promise<void> } {
  const { t } = useI18n()
  const busy = ref(false)
  const error = shallowRef<unknown>()
  async function create() {
    busy.value = true
    error.value = undefined
    try {
      notify('done', t('cluster.sampleDone', { n: await createSample() }))
      advanceTour('sample')
    } catch (reason) {
      error.value = reason
    } finally {
      busy.value = false
    }
  }
  return { busy, error, create }
}
