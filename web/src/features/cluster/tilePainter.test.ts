import { beforeEach, describe, expect, it } from 'vitest'
import type { TileFace } from './model/tileFaces'
import { layoutTiles } from './model/tiles'
import { blend, TilePainter, type TileColours } from './tilePainter'

const layout = layoutTiles([{ name: '', count: 100, parts: [{ name: '', count: 100 }] }], { width: 400, height: 400 })
const window = { top: 0, width: 400, height: 400 }
const load = (level: number): TileFace => ({ kind: 'load', level, flagged: false })
const faces = Array.from({ length: 100 }, () => load(1))
const none = () => false

it('blends colours in short or long notation', () => {
  expect(blend('#fff', '#000000', 0.5)).toBe('#808080')
  expect(blend('#ffffff', '#0f0', 1)).toBe('#00ff00')
})

describe('a painter of tiles', () => {
  let drawn = 0
  const context = {
    canvas: { width: 400, height: 400 },
    setTransform() {},
    clearRect() {},
    drawImage: () => drawn++,
  } as unknown as CanvasRenderingContext2D
  let painter: TilePainter
  const painted = (
    next: readonly TileFace[],
    how: Partial<{ window: typeof window; dim: (i: number) => boolean; anew: boolean }> = {}
  ) => {
    drawn = 0
    painter.paint(context, layout, next, how.window ?? window, how.dim ?? none, how.anew)
    return drawn
  }
  beforeEach(() => {
    painter = new TilePainter({} as TileColours, layout.pitch, 1)
  })

  it('draws all tiles once, and then only changed ones', () => {
    expect(painted(faces)).toBe(100)
    expect(painted(faces.map(() => load(1)))).toBe(0)
    expect(painted(faces.map((face, i) => (i === 7 ? load(3) : face)))).toBe(1)
    expect(painted(faces)).toBe(1)
  })
  it('draws all tiles if others are dimmed, the window moves or the canvas was cleared', () => {
    painted(faces)
    const dim = (i: number) => i > 3
    expect(painted(faces, { dim })).toBe(100)
    expect(painted(faces, { dim, window: { ...window, top: 5 } })).toBe(100)
    expect(painted(faces, { dim, window: { ...window, top: 5 }, anew: true })).toBe(100)
  })
})
