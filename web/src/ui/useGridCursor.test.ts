import { expect, it } from 'vitest'
import { nextTick } from 'vue'
import { useGridCursor, type GridPlace } from './useGridCursor'

function grid(rows: number, columns?: number, start?: GridPlace) {
  let place = start
  const revealed: GridPlace[] = []
  const cursor = useGridCursor({
    id: 'g',
    at: () => place,
    rows: () => rows,
    ...(columns === undefined ? {} : { columns: () => columns }),
    move: (to) => (place = to),
    reveal: (to) => revealed.push(to),
  })
  const box = document.createElement('div')
  box.addEventListener('keydown', (event) => (cursor.onKey(event) ? undefined : ignored.push(event.key)))
  const ignored: string[] = []
  const inner = box.appendChild(document.createElement('button'))
  const press = (key: string, options: KeyboardEventInit = {}, on: HTMLElement = box) => {
    on.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...options }))
    return place && [place.row, place.column]
  }
  return { cursor, press, ignored, revealed, inner }
}

it('moves a cell in a table, and stops at its edges', () => {
  const { press } = grid(40, 3)
  const keys = [
    'ArrowDown',
    'ArrowRight',
    'ArrowUp',
    'End',
    'ArrowRight',
    'PageDown',
    'Home',
    'PageDown',
    'PageDown',
    'PageUp',
  ]
  expect(keys.map((key) => press(key))).toEqual([
    [0, 0],
    [0, 1],
    [0, 1],
    [0, 2],
    [0, 2],
    [15, 2],
    [15, 0],
    [30, 0],
    [39, 0],
    [24, 0],
  ])
})

it('moves a row in a list, whose ends are the first and the last row', () => {
  const { press, ignored } = grid(40)
  expect(['ArrowDown', 'ArrowDown', 'PageDown', 'End', 'Home', 'ArrowRight'].map((key) => press(key)?.[0])).toEqual([
    0, 1, 16, 39, 0, 0,
  ])
  expect(ignored).toEqual(['ArrowRight'])
})

it('names the element of the cursor, and reveals it once it has moved', async () => {
  const { cursor, press, revealed } = grid(4, 2, { row: 1, column: 0 })
  press('ArrowRight')
  expect([cursor.idOf(1, 1), cursor.activeId.value, grid(4).cursor.idOf(2), grid(4).cursor.activeId.value]).toEqual([
    'g-1-1',
    'g-1-1',
    'g-2',
    undefined,
  ])
  expect(revealed).toEqual([])
  await nextTick()
  expect(revealed).toEqual([{ row: 1, column: 1 }])
})

it('leaves other keys alone: with a modifier, of an element within, or of an empty grid', () => {
  const { press, ignored, inner } = grid(4, 2)
  for (const held of ['ctrlKey', 'metaKey', 'altKey']) press('ArrowDown', { [held]: true })
  press('ArrowDown', {}, inner)
  expect(press('Enter')).toBeUndefined()
  expect(ignored).toHaveLength(5)
  expect(press('ArrowDown', { shiftKey: true })).toEqual([0, 0])
  expect([grid(0, 2).press('ArrowDown'), grid(2, 0).press('ArrowDown'), grid(0).press('End')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})
