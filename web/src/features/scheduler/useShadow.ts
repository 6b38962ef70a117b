// The shadow configuration: setting and stopping it, its judgement while decisions arrive,
// and the judgement of a draft.

import { useThrottleFn } from '@vueuse/core'
import { ref, shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import { useI18n } from 'vue-i18n'
import { deleteShadow, getShadow, judgeDraft, putShadow } from '@/api/whatif'
import type { Shadow, ShadowDraftAnswer } from '@/api/types'
import { useQuestion, type Question } from '@/features/whatif/useQuestion'
import { useAnswer } from '@/live/answer'
import { connection } from '@/live/status'
import { results } from '@/live/watched'
import { notify } from '@/ui/notices'

export interface ShadowView {
  shadow: ShallowRef<Shadow | undefined>
  error: ShallowRef<unknown>
  reload(): void
  /** A request to set or stop the shadow is under way. */
  busy: Ref<boolean>
  /** Why the shadow could not be set or stopped. */
  failed: ShallowRef<unknown>
  set(document: string): Promise<void>
  stop(): Promise<void>
  /** The judgement of a draft. */
  judgement: Question<ShadowDraftAnswer & { document: string; at: number }, [document: string]>
}

/** While decisions stream in, the judgement is read this often (ms). */
const readEvery = 1500
/** How many decisions of the past a draft is judged by. */
export const lastDecisions = 200

export function useShadow(): ShadowView {
  const { t } = useI18n()
  const { value: shadow, error, ask } = useAnswer((signal) => getShadow(signal))
  const busy = ref(false)
  const failed = shallowRef<unknown>()
  const read = useThrottleFn(() => void ask(), readEvery, true)
  watch(
    () => connection.value.kind === 'live',
    () => void ask(),
    { immediate: true }
  )
  // Without a shadow, decisions change nothing.
  watch(results, () => shadow.value?.configuration && void read())
  // The shadow judges some time after the decision, and nothing tells the page when it has.
  watch(shadow, (now) => now?.waiting && void read())

  async function change(request: () => Promise<Shadow | undefined>, said: string) {
    busy.value = true
    failed.value = undefined
    try {
      const now = await request()
      if (now) shadow.value = now
      notify('done', said)
      await ask()
    } catch (reason) {
      failed.value = reason
    }
    busy.value = false
  }
  return {
    shadow,
    error,
    reload: () => void ask(),
    busy,
    failed,
    set: (document) => change(() => putShadow(document), t('shadow.wasSet')),
    stop: () => change(() => deleteShadow().then(() => undefined), t('shadow.wasStopped')),
    judgement: useQuestion(async (signal, document: string) => {
      const at = Date.now()
      return { ...(await judgeDraft(document, lastDecisions, signal)), document, at }
    }),
  }
}
