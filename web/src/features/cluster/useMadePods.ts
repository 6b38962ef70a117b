// Says in the message about created objects where their pods went, or what keeps one pending.

import { computed, watch } from 'vue'
import { t } from '@/i18n'
import { useRouter } from 'vue-router'
import { made } from '@/features/create/store/create'
import { plainName } from '@/features/decision/model/cycle'
import { reasonsOf } from '@/features/decision/model/firstReason'
import { useCycle } from '@/features/decision/store/cycles'
import { ownerOf } from '@/kubernetes/pods'
import { pods, results } from '@/live/watched'
import { amend, notices } from '@/ui/notices'
import { nearestNode } from '@/features/decision/model/nearest'
import { lacksText } from './nearestWords'

export function useMadePods(): void {
  const router = useRouter()
  /** The message is still shown. */
  const open = computed(() => notices.value.some(({ id }) => id === made.value?.notice))
  const keys = computed(
    () => new Set(made.value?.objects.map(({ kind, namespace, name }) => `${namespace ?? ''}/${kind}/${name}`))
  )
  const own = computed(() =>
    open.value
      ? [...pods.value.items.values()].filter(
          (pod) =>
            keys.value.has(`${pod.metadata.namespace ?? ''}/Pod/${pod.metadata.name}`) ||
            keys.value.has(ownerOf(pod)?.key ?? '')
        )
      : []
  )
  /** The pod to speak of: one that waits for a node before one that has a node. */
  const shown = computed(() => own.value.find(({ spec }) => !spec?.nodeName) ?? own.value[0])
  const summary = computed(() => results.value.items.find(({ pod }) => pod.uid === shown.value?.metadata.uid))
  const refused = computed(() => (summary.value?.outcome === 'unschedulable' ? summary.value : undefined))
  const { cycle } = useCycle(refused)

  const why = computed(() => {
    if (!refused.value) return ''
    if (refused.value.nominatedNode) return t('pending.nominated', { node: refused.value.nominatedNode })
    const nearest = cycle.value && nearestNode(cycle.value)?.why
    if (nearest?.kind === 'lacks') return t('made.short', { lacks: lacksText(nearest.lacks) })
    const first = reasonsOf(refused.value).reasons[0]
    return first ? `${plainName(first.plugin)}: ${first.reason}` : (refused.value.message ?? '')
  })
  const said = computed(() => {
    const name = shown.value?.metadata.name ?? ''
    const node = shown.value?.spec?.nodeName
    const placed = own.value.filter(({ spec }) => spec?.nodeName).length
    const count = own.value.length > 1 ? t('made.count', { n: placed, total: own.value.length }) : ''
    if (why.value) return [count, t('made.pending', { pod: name, why: why.value })].filter(Boolean).join(' ')
    return count || (node ? t('made.placed', { pod: name, node }) : (made.value?.text ?? ''))
  })
  /** It can be spoken of before it arrives. */
  const pod = computed(() => shown.value?.metadata ?? made.value?.objects.find(({ kind }) => kind === 'Pod'))
  const decision = (query: Record<string, string>) =>
    void router.push({
      name: 'decision',
      params: { namespace: pod.value?.namespace ?? '', name: pod.value?.name ?? '' },
      query,
    })
  watch(
    () => pod.value && [made.value?.notice, said.value, !!summary.value, !!refused.value].join(),
    (now) => {
      if (!now || !made.value) return
      amend(made.value.notice, {
        text: said.value,
        actions: [
          { label: summary.value ? t('made.why') : t('made.show'), run: () => decision({}) },
          ...(refused.value ? [{ label: t('deci.fit'), run: () => decision({ panel: 'fit' }) }] : []),
        ],
      })
    }
  )
}
