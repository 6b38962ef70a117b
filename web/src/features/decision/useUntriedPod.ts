// Why a pod has no scheduling attempt.

import { computed, shallowRef, watch } from 'vue'
import { getAttempts } from '@/api/simulator'
import type { PluginResult } from '@/api/types'
import { t } from '@/i18n'
import { pendingReason } from '@/kubernetes/pods'
import { status } from '@/live/status'
import { holdersOf } from './model/preEnqueue'
import type { Attempts } from './useAttempts'

export type UntriedPod = ReturnType<typeof useUntriedPod>

export function useUntriedPod({
  namespace,
  name,
  pod,
  missing,
}: Pick<Attempts, 'namespace' | 'name' | 'pod' | 'missing'>) {
  const held = shallowRef<readonly PluginResult[]>([])
  watch(
    () =>
      missing.value && pod.value && !pod.value.spec?.nodeName
        ? `${pod.value.metadata.uid} ${pod.value.metadata.resourceVersion}`
        : '',
    async (key) => {
      held.value = []
      const asked = pod.value?.metadata.uid
      if (!key || !asked) return
      // Without a response the page shows what the pod's own fields tell.
      const answer = await getAttempts(asked).then(
        ({ held = [] }) => held,
        () => []
      )
      if (asked === pod.value?.metadata.uid) held.value = answer
    },
    { immediate: true }
  )
  return {
    /** The plugins that keep the pod out of the queue, which the pod's status does not name. */
    holders: computed(() => (pod.value && !pod.value.spec?.nodeName ? holdersOf(pod.value, held.value) : [])),
    reason: computed(() => {
      if (!pod.value) return t('decision.noResultGone', { name: `${namespace.value}/${name.value}` })
      if (pod.value.spec?.nodeName) return t('decision.noResultBound', { node: pod.value.spec.nodeName })
      const reason = pendingReason(pod.value, status.value?.scheduler.profiles)
      if (reason.kind === 'noProfile') return t('decision.noResultProfile', { name: reason.scheduler })
      if (reason.kind === 'unschedulable') return t('decision.noResultUnschedulable', { message: reason.message })
      return t('decision.noResultUntried')
    }),
  }
}
