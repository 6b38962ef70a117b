// The drawing of a lesson: the interface's own shapes, small, on a ground of 216 × 64.

import { h, type FunctionalComponent, type VNode } from 'vue'
import './art.css'

const node = (x: number, y: number, w = 30, height = 40, c = '') =>
  h('rect', { class: ['n', c], x, y, width: w, height, rx: 4 })
const box = (x: number, y: number, width: number, height: number, c: string, rx = 2.2) =>
  h('rect', { class: c, x, y, width, height, rx })
const pod = (x: number, y: number, colour: number, size = 9) =>
  h('rect', { x, y, width: size, height: size, rx: 2.2, fill: `var(--c${colour})` })
const ghost = (x: number, y: number, size = 9) => box(x + 0.5, y + 0.5, size - 1, size - 1, 'gh', 2)
const path = (d: string, c: string) => h('path', { class: c, d })
const line = (d: string, c = '') => path(d, `l ${c}`)
const cross = (x: number, y: number, w = 30, height = 40) =>
  path(`M${x + 4} ${y + 4} ${x + w - 4} ${y + height - 4}M${x + w - 4} ${y + 4} ${x + 4} ${y + height - 4}`, 'x')
const flag = (x: number, y: number) => path(`M${x} ${y + 14}V${y}h9l-2.2 3.2 2.2 3.2H${x}`, 'w')
const meter = (x: number, y: number, w: number, part: number) => [
  box(x, y, w, 4, 't', 2),
  box(x, y, w * part, 4, 'u', 2),
]

type Shapes = (VNode | VNode[])[]

const whatItDecides = (): Shapes => [
  pod(12, 26, 1, 12),
  line('M32 32h20M47.5 27.5 52 32l-4.5 4.5'),
  ...[66, 104, 142, 180].flatMap((x, i) => [
    node(x, 12, 28, 40, i === 2 ? 'won' : ''),
    ...meter(x + 5, 42, 18, [0.8, 0.55, 0.4, 0.65][i] ?? 0),
  ]),
  pod(151.5, 20, 1),
]
const filters = (): Shapes =>
  [8, 50, 92, 134, 176].flatMap((x, i) =>
    i % 2
      ? [node(x, 12, 32, 40, 'out'), cross(x, 12, 32)]
      : [node(x, 12, 32), pod(x + 7, 19, [2, 3, 5][i / 2] ?? 0), ...meter(x + 6, 42, 20, [0.7, 0.3, 0.5][i / 2] ?? 0)]
  )
const scores = (): Shapes =>
  [
    [58, 44, 30, 40],
    [58, 0, 44, 56],
    [20, 44, 34, 30],
  ].flatMap((widths, row) => {
    const y = 12 + 16 * row
    let x = 34
    const parts = widths.flatMap((width, i) => {
      const part = width ? [h('rect', { x, y, width: width - 1, height: 11, fill: `var(--c${[1, 3, 5, 4][i]})` })] : []
      x += width
      return part
    })
    return [box(14, y, 11, 11, row ? 't' : 'a', 2.5), ...parts]
  })
const taints = (): Shapes => [
  pod(14, 14, 6, 11),
  flag(30, 12),
  pod(14, 40, 1, 11),
  ...[86, 128, 170].flatMap((x, i) => [
    node(x, 10, 32, 44),
    ...(i === 1 ? [] : [flag(x + 11, 16)]),
    ...meter(x + 6, 44, 20, [0.4, 0.75, 0.2][i] ?? 0),
  ]),
  line('M48 20C60 14 70 20 82 26M77.5 21.5 82.5 26.5 76 28', 'ok'),
  line('M34 46C50 56 62 46 72 42', 'no'),
  path('m72 36 7 7M79 36l-7 7', 'x'),
]
const affinity = (): Shapes => [
  box(8, 8, 82, 48, 'z', 6),
  box(126, 8, 82, 48, 'z', 6),
  ...[18, 52, 136, 170].map((x) => node(x, 16, 28, 32)),
  pod(28, 27, 3),
  pod(62, 34, 2),
  pod(146, 27, 1),
  pod(103.5, 26, 1, 10),
  line('M100 31C84 20 60 22 41 30M45.5 25.5 40.5 30.5 47 32.5', 'ok'),
  line('M117 31h22', 'no'),
  path('m124 27.5 7 7M131 27.5l-7 7', 'x'),
]
const spreading = (): Shapes => [
  ...[34, 94, 154].flatMap((x, i) => [
    box(x - 14, 8, 46, 48, 'z', 6),
    ...[0, 1, 2].flatMap((k) =>
      k < ([2, 3, 1][i] ?? 0)
        ? [pod(x + 3.5, 43 - k * 12, 1, 10)]
        : i === 2 && k === 1
          ? [ghost(x + 3.5, 43 - k * 12, 10)]
          : []
    ),
  ]),
  line('M14 17h188', 'da'),
  line('M14 41.5h188', 'da'),
]
const preemption = (): Shapes => [
  node(24, 20, 168, 24),
  pod(30, 26, 3, 12),
  h('rect', { x: 47, y: 26, width: 46, height: 12, rx: 2.2, fill: 'var(--c1)' }),
  h('rect', { x: 98, y: 26, width: 30, height: 12, rx: 2.2, fill: 'var(--c2)' }),
  box(133.5, 26.5, 52, 11, 'gh', 2),
  line('M152 6v14M148.5 16.5l3.5 4 3.5-4', 'ac'),
  line('M168 46v11M164.5 53.5l3.5 4 3.5-4', 'no'),
  pod(133, 2, 6, 12),
  pod(178, 49, 5, 12),
]
const queue = (): Shapes => [
  ...[12, 32, 52].map((y, row) => line(`M62 ${y}h140`, row === 2 ? 'da' : '')),
  ...[
    [1, 2, 5, 3],
    [4, 1],
  ].flatMap((colours, row) => colours.map((colour, i) => pod(78 + i * 24, 7 + row * 20, colour, 10))),
  ...[1, 3, 5].map((colour, i) =>
    h('rect', {
      x: 78 + i * 24,
      y: 47,
      width: 10,
      height: 10,
      rx: 2.2,
      fill: 'var(--surface)',
      stroke: `var(--c${colour})`,
      'stroke-width': 1.6,
    })
  ),
  line('M196 8l6 4-6 4'),
  h('circle', { class: 'n', cx: 180, cy: 32, r: 7 }),
  line('M180 28.5V32l2.5 1.8'),
  line('M58 52C30 52 30 12 56 12M51.5 8 57 12l-5.5 4', 'ac'),
]
const extenders = (): Shapes => [
  node(14, 10, 104, 44),
  ...[1, 3, 5, 4].map((colour, i) =>
    h('rect', { x: 22 + 24 * i, y: 20, width: 18, height: 24, rx: 3, fill: `var(--c${colour})` })
  ),
  line('M122 28h38M155.5 24.5l5 3.5-5 3.5', 'da'),
  line('M160 38h-38M126.5 34.5l-5 3.5 5 3.5', 'da'),
  box(166.5, 14.5, 36, 35, 'gh', 5),
  h('rect', { x: 176, y: 24, width: 17, height: 16, rx: 3, fill: 'var(--c9)' }),
]
const gang = (): Shapes => [
  box(12.5, 20.5, 72, 23, 'gh', 5),
  ...[20, 36, 52, 68].map((x) => pod(x, 27, 6, 10)),
  line('M92 32h14M101.5 28l4.5 4-4.5 4'),
  ...[116, 140, 164, 188].flatMap((x) => [node(x, 14, 20, 36), pod(x + 5, 22, 6, 10), ...meter(x + 4, 42, 12, 0.6)]),
]
const quota = (): Shapes => [
  box(14, 14, 86, 12, 't', 3),
  h('rect', { x: 14, y: 14, width: 72, height: 12, rx: 3, fill: 'var(--c1)' }),
  box(14, 36, 86, 12, 't', 3),
  h('rect', { x: 14, y: 36, width: 30, height: 12, rx: 3, fill: 'var(--c4)' }),
  path('M60 10v20M60 32v20', 'wl'),
  box(122, 28, 22, 17, 'w', 3.5),
  path('M127 28v-5a6 6 0 0 1 12 0v5', 'wl'),
  pod(156, 27, 1, 10),
  ghost(172, 27, 10),
  ghost(188, 27, 10),
  line('M104 20h10M104 42h10'),
]
const threeWays = (): Shapes => [
  pod(14, 8, 1, 10),
  line('M30 13h100'),
  box(10.5, 24.5, 46, 15, 'gh', 4),
  ...[14, 28, 42].map((x) => pod(x, 27, 3, 10)),
  line('M62 32h68'),
  ...[14, 28, 42].map((x) => pod(x, 47, 5, 10)),
  line('M62 52C90 52 96 44 130 44M62 52h68', 'ac'),
  ...[136, 162, 188].map((x) => node(x, 10, 22, 44)),
]
const incident = (): Shapes => [
  ...[6, 8, 7, 9, 8, 10, 9, 24, 36, 40, 34, 28, 16, 10, 8, 7, 9, 8].map((height, i) =>
    box(12 + i * 10.8, 54 - height, 7, height, i > 6 && i < 12 ? 'r' : 'u', 1.5)
  ),
  h('circle', { cx: 118, cy: 28, r: 19, fill: 'none', stroke: 'var(--text-2)', 'stroke-width': 1.8 }),
  h('path', { d: 'm132 42 9 9', stroke: 'var(--text-2)', 'stroke-width': 2.6, 'stroke-linecap': 'round' }),
]
/** A teacher's lesson. */
const plain = (): Shapes => [
  ...[48, 88, 128].flatMap((x, i) => [
    node(x, 12),
    pod(x + 7, 19, [1, 5, 3][i] ?? 0),
    ...meter(x + 6, 42, 18, [0.6, 0.3, 0.5][i] ?? 0),
  ]),
]

/** In the order of the course. */
const drawings = [
  whatItDecides,
  filters,
  scores,
  taints,
  affinity,
  spreading,
  preemption,
  queue,
  extenders,
  gang,
  quota,
  threeWays,
  incident,
]

/** `of` is the lesson's place in the course, from 0; undefined for a teacher's. */
const LessonArt: FunctionalComponent<{ of: number | undefined }> = ({ of }) =>
  h(
    'svg',
    { class: 'lesson-art', viewBox: '0 0 216 64', preserveAspectRatio: 'xMidYMid meet', 'aria-hidden': 'true' },
    (drawings[of ?? -1] ?? plain)()
  )
LessonArt.props = { of: Number }
export default LessonArt
