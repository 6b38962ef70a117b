import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nextTick, ref, shallowReactive, shallowRef } from 'vue'
import type { NodeVerdict } from '@/features/decision/model/cycle'
import { objectMenu } from '@/features/act/store/asked'
import { buildCluster, node } from '@/kubernetes/testing'
import { withSetup, type Running } from '@/ui/testing'
import { arrangeNodes } from './model/arrange'
import { tally, type TileFace } from './model/tileFaces'
import { layoutTiles } from './model/tiles'
import { TilePainter } from './tilePainter'
import { useTileCursor, type TileCursor } from './useTileCursor'
import { useTileFaces, type ShownTiles } from './useTileFaces'
import { useTileMarks } from './useTileMarks'
import { useTilePainting } from './useTilePainting'
import { tileWords } from './tileWords'

const painted = vi.hoisted(() => vi.fn())
vi.mock('./tilePainter', () => ({
  readColours: () => ({}),
  TilePainter: vi.fn(function () {
    return { paint: painted }
  }),
}))

const views = (...names: string[]) => buildCluster(new Map(names.map((name) => [name, node(name)])), new Map()).nodes
/** Two columns, each filled from the top. */
const layoutOf = (count: number) =>
  layoutTiles([{ name: '', count, parts: [{ name: '', count }] }], { width: 90, height: 4000 })
const nodes = shallowRef(views('a', 'b', 'c', 'd', 'e', 'f'))
const layout = shallowRef(layoutOf(6))
const chosen = ref(-1)
const verdictOf = shallowRef<(node: string) => NodeVerdict>()
const box = (width: number, height: number) =>
  Object.defineProperties(document.createElement('div'), {
    clientWidth: { value: width },
    clientHeight: { value: height },
  })
let list: HTMLElement
let scroller: HTMLElement
const open = vi.fn()
const isolate = vi.fn<(at: number) => boolean>()

let page: Running<TileCursor>
let cursor: TileCursor
beforeEach(async () => {
  list = document.createElement('div')
  scroller = box(400, 100)
  nodes.value = views('a', 'b', 'c', 'd', 'e', 'f')
  chosen.value = -1
  verdictOf.value = undefined
  isolate.mockReturnValue(true)
  page = await withSetup(() =>
    useTileCursor(
      {
        frame: ref(box(400, 300)),
        scroller: ref(scroller),
        list: ref(list),
        margin: 16,
        layout,
        nodes,
        chosen,
        verdictOf: () => verdictOf.value,
        cardHeight: () => 100,
      },
      { open, isolate }
    )
  )
  cursor = page.value
})
afterEach(() => {
  page.unmount()
  objectMenu.value = undefined
  vi.clearAllMocks()
})

const named = () => objectMenu.value?.refs.map((of) => of.name)

/** Whether the key was used. */
function press(key: string, more: KeyboardEventInit = {}): boolean {
  const event = new KeyboardEvent('keydown', { key, cancelable: true, ...more })
  cursor.onKey(event)
  return event.defaultPrevented
}
const over = (tile: number, type: string, more: PointerEventInit = {}) =>
  new PointerEvent(type, {
    clientX: (layout.value.x[tile] ?? 0) + 3,
    clientY: (layout.value.y[tile] ?? 0) + 3,
    pointerType: 'mouse',
    ...more,
  })

describe('the cursor of the tiles', () => {
  it('moves by keys, opens with Enter, and Escape clears only the active tile', () => {
    expect(press('Escape')).toBe(false)
    press('ArrowDown')
    expect(cursor.activeName.value).toBe('a')
    press('ArrowDown')
    expect(cursor.activeName.value).toBe('b')
    press('End')
    expect(cursor.activeName.value).toBe('f')
    press('Enter')
    expect(open).toHaveBeenCalledExactlyOnceWith('f')
    expect(press('Escape')).toBe(true)
    expect([cursor.active.value, cursor.cardAt.value]).toEqual([-1, undefined])
  })

  it('starts at the chosen node, and visits the scored ones, best first', () => {
    chosen.value = 3
    verdictOf.value = (name) =>
      ({
        kind: name === 'b' || name === 'd' ? 'scored' : 'feasible',
        total: name === 'd' ? 9 : 4,
        chosen: name === 'd',
      }) as NodeVerdict
    press('ArrowRight')
    expect(cursor.activeName.value).toBe('d')
    press('n')
    expect(cursor.activeName.value).toBe('b')
    press('n')
    expect(cursor.activeName.value).toBe('d')
  })

  it('isolates plugins by digits, and ignores other keys', () => {
    expect(press('2')).toBe(true)
    expect(isolate).toHaveBeenCalledExactlyOnceWith(1)
    isolate.mockReturnValue(false)
    expect(press('3')).toBe(false)
    expect(press('n')).toBe(false)
    expect(press('ArrowDown', { ctrlKey: true })).toBe(false)
    expect(cursor.active.value).toBe(-1)
  })

  it('follows the pointer until it leaves, unless the tiles have the focus', () => {
    cursor.onPointer(over(2, 'pointermove'))
    expect([cursor.activeName.value, cursor.cardAt.value !== undefined]).toEqual(['c', true])
    cursor.onLeave()
    expect(cursor.activeName.value).toBeUndefined()
    cursor.onFocus()
    cursor.onPointer(over(2, 'pointermove'))
    cursor.onLeave()
    expect(cursor.activeName.value).toBe('c')
    cursor.onBlur()
    expect(cursor.activeName.value).toBeUndefined()
  })

  it('opens with a click, and with the second tap', () => {
    cursor.onClick(over(1, 'click'))
    expect(open).toHaveBeenCalledExactlyOnceWith('b')
    cursor.onClick(over(2, 'click', { pointerType: 'touch' }))
    expect([cursor.activeName.value, open.mock.calls.length]).toEqual(['c', 1])
    cursor.onClick(over(2, 'click', { pointerType: 'touch' }))
    expect(open).toHaveBeenLastCalledWith('c')
  })

  it('opens the menu of the tile below the pointer, or of the active one', () => {
    cursor.onMenu(over(4, 'contextmenu', { button: 2 }))
    expect(named()).toEqual(['e'])
    objectMenu.value = undefined
    cursor.onMenu(over(4, 'contextmenu', { button: 0 }))
    expect(objectMenu.value).toBeUndefined()
    press('Home')
    cursor.onMenu(over(4, 'contextmenu', { button: 0 }))
    expect(named()).toEqual(['a'])
  })

  it('stays at its node while others are added and removed', () => {
    press('End')
    nodes.value = views('a', 'f')
    expect([cursor.activeName.value, cursor.active.value]).toEqual(['f', 1])
    nodes.value = views('a')
    expect([cursor.active.value, cursor.activeView.value]).toEqual([-1, undefined])
  })

  it('scrolls to a hidden tile, and keeps the card beside it', () => {
    press('End')
    expect(scroller.scrollTop).toBeGreaterThan(0)
    const before = cursor.cardAt.value
    scroller.scrollTop += 30
    cursor.onScroll()
    expect(cursor.cardAt.value?.top).toBeLessThan(before?.top ?? 0)
  })
})

describe('the painting', () => {
  const frames: FrameRequestCallback[] = []
  const frame = () => frames.splice(0).forEach((run) => run(0))
  const faces = shallowRef<TileFace[]>([])
  const [height, stageHeight] = [ref(100), ref(300)]
  const canvas = Object.assign(document.createElement('canvas'), { getContext: () => ({}) })
  async function paint() {
    vi.stubGlobal('requestAnimationFrame', (run: FrameRequestCallback) => frames.push(run))
    vi.stubGlobal('cancelAnimationFrame', () => frames.splice(0))
    stageHeight.value = 300
    const sheet = {
      canvas: ref(canvas),
      scroller: ref(scroller),
      layout,
      faces,
      dim: ref(() => false),
      width: ref(400),
      height,
      stageWidth: ref(368),
      stageHeight,
    }
    return withSetup(() => useTilePainting(sheet))
  }
  afterEach(() => vi.unstubAllGlobals())

  it('happens once per frame, however many changes there are', async () => {
    const { unmount } = await paint()
    frame()
    expect(painted).toHaveBeenCalledTimes(1)
    faces.value = []
    await nextTick()
    faces.value = []
    height.value = 101
    await nextTick()
    frame()
    expect(painted).toHaveBeenCalledTimes(2)
    frame()
    expect(painted).toHaveBeenCalledTimes(2)
    faces.value = []
    await nextTick()
    unmount()
    frame()
    expect(painted).toHaveBeenCalledTimes(2)
  })

  it('starts over for another canvas size, and uses a new painter for another tile size', async () => {
    const { unmount } = await paint()
    frame()
    vi.mocked(TilePainter).mockClear()
    faces.value = []
    await nextTick()
    frame()
    expect([painted.mock.calls.at(-1)?.[5], vi.mocked(TilePainter).mock.calls.length]).toEqual([false, 0])
    stageHeight.value = 500
    await nextTick()
    frame()
    expect(painted.mock.calls.at(-1)?.[5]).toBe(true)
    layout.value = layoutOf(600)
    await nextTick()
    frame()
    expect(vi.mocked(TilePainter)).toHaveBeenCalledOnce()
    layout.value = layoutOf(6)
    unmount()
  })

  it('follows the scroller only if the canvas does not hold all tiles', async () => {
    const { value, unmount } = await paint()
    frame()
    painted.mockClear()
    value.onScroll()
    frame()
    expect([painted.mock.calls.length, value.canvasHeight.value]).toEqual([0, 300])
    stageHeight.value = 20_000
    await nextTick()
    frame()
    painted.mockClear()
    value.onScroll()
    frame()
    expect([painted.mock.calls.length, value.canvasHeight.value]).toEqual([1, height.value])
    unmount()
  })
})

it('describes a tile’s face in words', () => {
  const [view] = views('a')
  if (!view) throw new Error('no view')
  const verdicts = [
    undefined,
    { kind: 'scored', rank: 2, total: 77, chosen: false },
    { kind: 'scored', rank: 1, total: 77, chosen: true },
    { kind: 'rejected', plugin: 'NodePorts', reason: 'in use' },
    { kind: 'feasible', chosen: false },
    { kind: 'notEvaluated' },
    { kind: 'absent' },
  ] as (NodeVerdict | undefined)[]
  const said = verdicts.map((verdict) => tileWords(view, verdict))
  expect(new Set(said).size).toBe(verdicts.length)
  expect(said.every((words) => words.startsWith('a, '))).toBe(true)
  expect(said[1]).toContain('77')
  expect(said[3]).toMatch(/NodePorts, in use$/)
})

describe('the faces', () => {
  const verdicts = (name: string) =>
    ({ a: { kind: 'rejected', plugin: 'p', reason: 'r' }, b: { kind: 'scored', total: 5, chosen: true } })[
      name
    ] as NodeVerdict
  const all = views('a', 'b')
  const tiles = (more: Partial<ShownTiles> = {}): ShownTiles =>
    shallowReactive({
      groups: arrangeNodes(all, { text: '', sort: 'name', grouping: [] }),
      load: 'cpu',
      verdictOf: undefined,
      tally: undefined,
      filter: { kind: 'all' },
      nearest: undefined,
      ...more,
    })

  it('show the load, or the verdicts of a decision', async () => {
    const of = tiles()
    const { value } = await withSetup(() => useTileFaces(of))
    expect([value.faces.value.map((f) => f.kind), value.chosen.value]).toEqual([['load', 'load'], -1])
    Object.assign(of, { verdictOf: verdicts, tally: tally(all, verdicts) })
    expect([value.faces.value.map((f) => f.kind), value.chosen.value]).toEqual([['rejected', 'total'], 1])
  })

  it('are dimmed by the filter and keep their places', async () => {
    const of = tiles({ verdictOf: verdicts, tally: tally(all, verdicts) })
    const { value } = await withSetup(() => useTileFaces(of))
    expect([0, 1].map(value.dim.value)).toEqual([false, false])
    of.filter = { kind: 'rejected' }
    expect([0, 1, 2].map(value.dim.value)).toEqual([false, true, true])
  })
})

describe('the marks', () => {
  const small = layoutTiles([{ name: '', count: 4000, parts: [{ name: '', count: 4000 }] }], {
    width: 800,
    height: 400,
  })
  const marks = async (tile: number, of = small, near = -1) => {
    const all = views(...Array.from({ length: 60 }, (_, i) => `n${i}`))
    return (
      await withSetup(() =>
        useTileMarks({
          layout: ref(of),
          nodes: ref(all),
          chosen: ref(tile),
          nearest: ref(near),
          nearestSays: () => '0.5 CPU short',
          active: ref(-1),
          stageWidth: ref(800),
          verdictOf: () => () => ({ kind: 'scored', total: 7 }) as NodeVerdict,
        })
      )
    ).value
  }

  it('outline the chosen tile, and name its node if tiles are small', async () => {
    const { outlines, chosenTag } = await marks(0)
    expect(outlines.value.map((o) => o.kind)).toEqual(['chosen'])
    expect(chosenTag.value).toMatchObject({
      name: 'n0',
      total: 7,
      style: { left: `${(small.x[0] ?? 0) + small.pitch + 5}px` },
    })
    expect((await marks(0, layoutOf(6))).chosenTag.value).toBeUndefined()
    expect((await marks(-1)).outlines.value).toEqual([])
  })

  it('name the nearest node and what it lacks, inside the stage', async () => {
    const { nearestTag } = await marks(-1, small, 0)
    expect(nearestTag.value).toMatchObject({ name: 'n0', says: '0.5 CPU short', style: { left: '0px' } })
    const atTheEdge = { ...small, x: small.x.map(() => 780) }
    const left = parseFloat((await marks(-1, atTheEdge, 3)).nearestTag.value?.style.left ?? '')
    expect(left).toBeGreaterThan(600)
    expect(left).toBeLessThan(720)
    expect((await marks(3)).nearestTag.value).toBeUndefined()
  })

  it('keep the name inside the stage', async () => {
    const atTheEdge = { ...small, x: small.x.map(() => 780) }
    expect((await marks(3, atTheEdge)).chosenTag.value?.style).not.toHaveProperty('left')
  })
})
