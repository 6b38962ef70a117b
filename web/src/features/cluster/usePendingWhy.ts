// Why a pod has no node, in a few lines.

import { computed, toRef, type ComputedRef, type MaybeRefOrGetter } from 'vue'
import type { Pod, Summary } from '@/api/types'
import { plainName } from '@/features/decision/model/cycle'
import { reasonsOf } from '@/features/decision/model/firstReason'
import { t } from '@/i18n'
import { pendingReason } from '@/kubernetes/pods'
import { useNewest } from '@/live/newest'
import { status } from '@/live/status'

interface Line {
  /** '' if no plugin is known. */
  plugin: string
  text: string
}
export interface PendingWhy {
  icon: string
  tone: string
  lines: Line[]
  /** The number of reasons that are left out. */
  more?: number
}
/** At most so many reasons are listed. */
const mostReasons = 3

export function usePendingWhy(of: MaybeRefOrGetter<Pod>): ComputedRef<PendingWhy> {
  const pod = toRef(of)
  const { summary } = useNewest(
    computed(() => ({
      namespace: pod.value.metadata.namespace ?? '',
      name: pod.value.metadata.name,
      uid: pod.value.metadata.uid,
    }))
  )
  return computed(() => pendingWhy(pod.value, summary.value))
}

/** The same with the pod's newest decision, undefined if it is not known. */
export function pendingWhy(pod: Pod, summary: Pick<Summary, 'refusal'> | undefined): PendingWhy {
  const line = (text: string, plugin = ''): Line[] => [{ plugin, text }]
  const reason = pendingReason(pod, status.value?.scheduler.profiles)
  switch (reason.kind) {
    case 'gated':
      return {
        icon: 'gate',
        tone: 'warn',
        lines: line(t('pending.gated', { gates: reason.gates.join(t('common.separator')) })),
      }
    case 'noProfile':
      return { icon: 'warn', tone: 'warn', lines: line(t('pending.noProfile', { name: reason.scheduler })) }
    case 'nominated':
      return { icon: 'pin', tone: 'warn', lines: line(t('pending.nominated', { node: reason.node })) }
    case 'untried':
      return { icon: 'clock', tone: 'warn', lines: line(t('pending.untried')) }
    default: {
      const total = reason.nodes
      const text = (said: string, nodes: number | undefined) =>
        nodes ? t('pending.unschedulable', { reason: said, n: nodes, total: total ?? nodes }) : said
      const known = summary && reasonsOf(summary)
      // A record of an earlier version names no plugins; the scheduler's message has the reasons.
      const all = known?.reasons.length
        ? known.reasons.map((r) => ({ plugin: plainName(r.plugin), text: text(r.reason, r.nodes) }))
        : reason.reasons.map((r) => ({ plugin: '', text: text(r.text, r.count) }))
      if (!all.length) return { icon: 'x', tone: 'rej', lines: line(reason.message) }
      return {
        icon: 'x',
        tone: 'rej',
        lines: all.slice(0, mostReasons),
        more: Math.max(0, all.length - mostReasons) + (known?.more ?? 0),
      }
    }
  }
}
