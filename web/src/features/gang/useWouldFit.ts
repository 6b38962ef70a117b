// What would happen to members if the scheduler tried each of them now, one at a time.

import { ref, shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import { messageOf } from '@/api/message'
import { askWhatIf } from '@/api/whatif'
import type { ObjectMeta } from '@/api/types'
import { firstReason } from '@/features/decision/model/firstReason'
import { useTurns } from '@/live/answer'

export interface Would {
  /** '' when the pod would get none. */
  node: string
  reason: string
}

export interface WouldFit {
  /** By the pod's key. */
  found: ShallowRef<ReadonlyMap<string, Would>>
  asking: Ref<boolean>
  /** The server's words when it could not answer. */
  failed: Ref<string>
  ask(members: readonly Pick<ObjectMeta, 'namespace' | 'name'>[]): Promise<void>
}

/** Each question runs the scheduler once. */
const mostAsked = 20

/** Forgets the answers when `about` changes. */
export function useWouldFit(about: () => string): WouldFit {
  const found = shallowRef<ReadonlyMap<string, Would>>(new Map())
  const asking = ref(false)
  const failed = ref('')
  const turns = useTurns()
  watch(about, () => {
    turns.end()
    found.value = new Map()
    asking.value = false
    failed.value = ''
  })
  return {
    found,
    asking,
    failed,
    async ask(members) {
      const signal = turns.next()
      found.value = new Map()
      failed.value = ''
      asking.value = true
      try {
        for (const { namespace = '', name } of members.slice(0, mostAsked)) {
          const [decision] = (await askWhatIf({ podRef: { namespace, name } }, signal)).decisions
          if (signal.aborted) return
          if (!decision) continue
          const { lead, text } = firstReason(decision)
          const node =
            decision.outcome === 'scheduled' || decision.outcome === 'waiting' ? (decision.selectedNode ?? '') : ''
          found.value = new Map(found.value).set(`${namespace}/${name}`, {
            node,
            reason: node ? '' : [lead, text].filter(Boolean).join(' '),
          })
        }
      } catch (error) {
        if (signal.aborted) return
        failed.value = messageOf(error)
      }
      asking.value = false
    },
  }
}
