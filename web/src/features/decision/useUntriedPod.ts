// Why a pod has no scheduling attempt.

import { computed, shallowRef, watch, type ComputedRef } from 'vue'
import { useI18n } from 'vue-i18n'
import { getAttempts } from '@/api/simulator'
import type { PluginResult } from '@/api/types'
import { pendingReason } from '@/kubernetes/pods'
import { status } from '@/live/status'
import { holdersOf, type Holder } from './model/preEnqueue'
import type { Attempts } from './useAttempts'

export interface UntriedPod {
  /** The plugins that keep the pod out of the queue, which the pod's status does not name. */
  holders: ComputedRef<readonly Holder[]>
  /** The reason if no plugin keeps it out. */
  reason: ComputedRef<string>
}

export function useUntriedPod({
  namespace,
  name,
  pod,
  missing,
}: Pick<Attempts, 'namespace' | 'name' | 'pod' | 'missing'>): UntriedPod {
  const { t } = useI18n()
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
