import { computed, type ComputedRef } from 'vue'
import { expect, it, vi } from 'vitest'
import { withSetup } from '@/ui/testing'
import { useAboutPlugin } from './aboutPlugin'

it('appears when the sentences are loaded', async () => {
  let atFirst: unknown
  const { value, unmount } = await withSetup((): ComputedRef<(string | undefined)[]> => {
    const about = useAboutPlugin()
    const said = computed(() => [
      about('score', 'TaintToleration'),
      about('filter', 'TaintToleration'),
      about('score', 'ZoneQuota'),
    ])
    atFirst = said.value
    return said
  })
  expect(atFirst).toEqual([undefined, undefined, undefined])
  await vi.waitUntil(() => value.value[0] !== undefined)
  expect(value.value[0]).toContain('Counts the PreferNoSchedule taints')
  expect(value.value[1]).toContain('Rejects nodes with a NoSchedule or NoExecute taint')
  expect(value.value[2]).toBe('')
  unmount()
})
