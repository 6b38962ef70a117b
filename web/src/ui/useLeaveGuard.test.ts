import { flushPromises } from '@vue/test-utils'
import { expect, it, vi } from 'vitest'
import { ref } from 'vue'
import { withSetup } from './testing'
import { useLeaveGuard } from './useLeaveGuard'

const unsaved = ref(false)
const discard = vi.fn(() => {
  unsaved.value = false
})
const open = () => withSetup(() => useLeaveGuard(() => unsaved.value, discard), { at: '/a', routes: [{ path: '/a' }] })

it('does not ask when a page has no changes', async () => {
  unsaved.value = false
  const { router, unmount } = await open()
  await router.push('/b')
  expect(router.currentRoute.value.path).toBe('/b')
  unmount()
})

it('waits for an answer: staying keeps the changes, leaving discards them', async () => {
  unsaved.value = true
  const { value, router, unmount } = await open()
  let way = router.push('/b')
  await flushPromises()
  value.value?.(false)
  await way
  expect([router.currentRoute.value.path, value.value, discard.mock.calls.length]).toEqual(['/a', undefined, 0])
  way = router.push('/b')
  await flushPromises()
  value.value?.(true)
  await way
  expect([router.currentRoute.value.path, discard.mock.calls.length]).toEqual(['/b', 1])
  unmount()
})

it('makes the browser ask before it closes the tab, while the page is open', async () => {
  const closes = () => !window.dispatchEvent(new Event('beforeunload', { cancelable: true }))
  unsaved.value = false
  const { unmount } = await open()
  expect(closes()).toBe(false)
  unsaved.value = true
  expect(closes()).toBe(true)
  unmount()
  expect(closes()).toBe(false)
})
