import { flushPromises } from '@vue/test-utils'
import { expect, it, vi } from 'vitest'
import { shallowRef } from 'vue'
import { withSetup, type Running } from '@/ui/testing'
import { useSelectedCell, type SelectedCell } from './useSelectedCell'

let page: Running<SelectedCell>
async function select(at: string) {
  page = await withSetup(() => useSelectedCell(shallowRef(undefined)), { at })
  return page.value
}

it('is one part at a time, and keeps the rest of the URL', async () => {
  const { node, plugin, stage, pick } = await select('/?show=rejected&stage=Filter')
  pick({ node: 'n1', plugin: 'p' })
  await flushPromises()
  expect([node.value, plugin.value, stage.value]).toEqual(['n1', 'p', ''])
  expect(page.router.currentRoute.value.query).toMatchObject({ show: 'rejected' })
})

it('is a candidate if only a node is selected, and is cleared when it is selected again', async () => {
  const { candidate, pickCandidate, pick } = await select('/?node=n1')
  expect(candidate.value).toBe('n1')
  pickCandidate('n1')
  await flushPromises()
  expect(candidate.value).toBe('')
  pick({ node: 'n1', plugin: 'p' })
  await flushPromises()
  expect(candidate.value).toBe('')
})

it('scrolls to the table of an extension point, and is cleared when the point is chosen again', async () => {
  const { stage, pickStage } = await select('/')
  const section = document.body.appendChild(document.createElement('section'))
  section.id = 'score'
  section.scrollIntoView = vi.fn()
  pickStage('Score')
  await flushPromises()
  expect(stage.value).toBe('Score')
  pickStage('Score')
  await flushPromises()
  expect(stage.value).toBe('')
  expect(section.scrollIntoView).toHaveBeenCalledOnce()
  section.remove()
})
