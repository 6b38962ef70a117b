// What would happen to members if the scheduler tried each of them now, one at a time.

import { ref, shallowRef, watch } from 'vue'
import { messageOf } from '@/api/message'
import { askWhatIf } from '@/api/whatif'
import { firstReason } from '@/features/decision/model/firstReason'
import { useTurns } from '@/live/answer'
import type { ObjectMeta } from '@/api/types'

export interface Would {
  /** '' when the pod would get none. */
  node: string
  reason: string
}

/** Each question runs the scheduler once. */
const mostAsked = 20

/** Forgets the answers when `about` changes. */
export function useWouldFit(about: () => string) {
  const found = shallowRef<ReadonlyMap<string, Would>>(new Map())
  const asking = ref(false)
  /** The server's words when it could not answer. */
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
    async ask(members: readonly Pick<ObjectMeta, 'namespace' | 'name'>[]) {
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
