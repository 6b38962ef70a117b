import { mount } from '@vue/test-utils'
import { expect, it } from 'vitest'
import RateChart from './RateChart.vue'

const lines = (values: (number | undefined)[]) =>
  mount(RateChart, { props: { values, colour: 'red', figure: '', unit: '', note: '' } })
    .findAll('path[stroke]')
    .map((path) => path.attributes('d'))

it.each([
  ['one value', [undefined, 3, undefined, undefined], 1],
  ['the last value', [undefined, undefined, 4], 1],
  ['nothing but zero', [0, 0], 1],
  ['values with a gap', [1, undefined, 2, 2], 2],
  ['no value', [undefined, undefined], 0],
])('draws %s', (_, values, count) => {
  const drawn = lines(values)
  expect(drawn).toHaveLength(count)
  for (const d of drawn) {
    const xs = [...(d ?? '').matchAll(/[ML](\S+) /g)].map(([, x]) => Number(x))
    expect(Math.max(...xs) - Math.min(...xs), d).toBeGreaterThan(0)
    expect(Math.max(...xs)).toBeLessThanOrEqual(100)
  }
})
