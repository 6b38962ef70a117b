// Karpenter's controllers as they are, asked for again and again while the page is visible.

import { useDocumentVisibility, useIntervalFn } from '@vueuse/core'
import { computed, ref } from 'vue'
import { configureKarpenter, getKarpenter, interruptNode } from '@/api/karpenter'
import type { KarpenterSettings } from '@/api/types'
import { t } from '@/i18n'
import { useAnswer } from '@/live/answer'
import { loadKinds } from '@/live/discovery'
import { notify } from '@/ui/notices'
import { useAttempt } from '@/ui/useAttempt'

/** Karpenter decides within seconds (ms). */
const pace = 2000

export type Karpenters = ReturnType<typeof useKarpenter>

export function useKarpenter() {
  const { value: karpenter, error: failure, ask } = useAnswer((signal) => getKarpenter(signal))
  const { busy, error, attempt } = useAttempt()
  /** The user is asked before pods that nothing creates again may be evicted. */
  const warns = ref(false)
  const on = computed(() => karpenter.value?.state === 'on')
  const visible = useDocumentVisibility()
  useIntervalFn(() => visible.value === 'visible' && !busy.value && void ask(), pace, { immediateCallback: true })

  const configure = (change: Partial<KarpenterSettings>) =>
    attempt(async () => {
      const { settings } = karpenter.value ?? (await getKarpenter())
      await configureKarpenter({ ...settings, ...change })
      await ask()
    })
  async function turn(to: boolean): Promise<void> {
    warns.value = false
    if (!(await configure({ on: to }))) return
    await loadKinds(true)
    notify('done', t(to ? 'autoscaling.live.turnedOn' : 'autoscaling.live.turnedOff'))
  }
  async function toggle(): Promise<void> {
    if (on.value) return turn(false)
    await ask() // which pods there are now
    const bare = karpenter.value?.bare
    if (bare?.pods && bare.nodePools.length) warns.value = true
    else await turn(true)
  }
  const interrupt = (node: string) =>
    attempt(async () => {
      await interruptNode(node)
      await ask()
    })

  return { karpenter, failure, on, busy, error, warns, turn, toggle, configure, interrupt }
}
