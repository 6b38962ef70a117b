// The shadow configuration: setting and stopping it, and its judgement while decisions arrive.

import { useThrottleFn } from '@vueuse/core'
import { ref, shallowRef, watch } from 'vue'
import { deleteShadow, getShadow, putShadow } from '@/api/whatif'
import type { Shadow } from '@/api/types'
import { t } from '@/i18n'
import { useAnswer } from '@/live/answer'
import { connection } from '@/live/status'
import { results } from '@/live/watched'
import { notify } from '@/ui/notices'

export type ShadowView = ReturnType<typeof useShadow>

/** While decisions stream in, the judgement is read this often (ms). */
const readEvery = 1500

export function useShadow() {
  const { value: shadow, error, ask } = useAnswer((signal) => getShadow(signal))
  const busy = ref(false)
  /** Why the shadow could not be set or stopped. */
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
    set: (document: string) => change(() => putShadow(document), t('shadow.wasSet')),
    stop: () => change(() => deleteShadow().then(() => undefined), t('shadow.wasStopped')),
  }
}
