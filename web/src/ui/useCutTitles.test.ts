import { beforeEach, expect, it } from 'vitest'
import { withSetup } from './testing'
import { useCutTitles } from './useCutTitles'

beforeEach(async () => {
  document.body.innerHTML = ''
  await withSetup(useCutTitles)
})

function shown(html: string, width: { text: number; box: number }): HTMLElement {
  document.body.insertAdjacentHTML('beforeend', html)
  const element = document.body.lastElementChild as HTMLElement
  Object.defineProperty(element, 'scrollWidth', { value: width.text })
  Object.defineProperty(element, 'clientWidth', { value: width.box })
  element.dispatchEvent(new Event('pointerover', { bubbles: true }))
  return element
}

it('gives a cut text a tooltip with all of it', () => {
  expect(shown('<span class="ell"><b>NodeResourcesFit</b>  Insufficient cpu</span>', { text: 200, box: 80 }).title).toBe('NodeResourcesFit Insufficient cpu')
})
it('gives none to a text that fits, but what belongs to it', () => {
  expect(shown('<span class="ell">short</span>', { text: 40, box: 80 }).title).toBe('')
  expect(shown('<span class="ell" data-more="0/3 nodes are available">short</span>', { text: 40, box: 80 }).title).toBe('0/3 nodes are available')
  expect(shown('<span class="ell" data-more="0/3 nodes are available">long reason</span>', { text: 140, box: 80 }).title).toBe('long reason\n0/3 nodes are available')
})
it('keeps the title of an element', () => {
  expect(shown('<span class="ell" title="own">long reason</span>', { text: 140, box: 80 }).title).toBe('own')
})
