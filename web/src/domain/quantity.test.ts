import { describe, expect, it } from 'vitest'
import { formatAmount, formatPair, parseQuantity } from './quantity'
import { formatAge, formatDuration } from './time'

describe('parseQuantity', () => {
  it.each([
    ['1', 1],
    ['1500m', 1.5],
    ['0.5', 0.5],
    ['.5', 0.5],
    ['3Gi', 3 * 2 ** 30],
    ['512Mi', 512 * 2 ** 20],
    ['1k', 1000],
    ['2e3', 2000],
    ['2E', 2e18],
    ['1E3', 1000],
    ['100n', 1e-7],
    ['-1', -1],
  ])('%s', (text, value) => {
    expect(parseQuantity(text)).toBeCloseTo(value, 12)
  })
  it.each(['', 'x', '1 Gi', '1gi', '--1', '1Gim'])('%j is none', (text) => {
    expect(parseQuantity(text)).toBeNaN()
  })
  it('takes what is absent for none', () => {
    expect(parseQuantity(undefined)).toBeNaN()
  })
})

it('writes amounts in the unit that people use', () => {
  expect(formatAmount(1.5, 'cpu')).toBe('1.5')
  expect(formatAmount(3 * 2 ** 30, 'bytes')).toBe('3 Gi')
  expect(formatAmount(512 * 2 ** 20, 'bytes')).toBe('512 Mi')
  expect(formatPair(16 * 2 ** 30, 64 * 2 ** 30, 'bytes')).toEqual({ used: '16', allocatable: '64', unit: 'Gi' })
  expect(formatPair(7.7, 16, 'cpu')).toEqual({ used: '7.7', allocatable: '16', unit: '' })
})

it('writes ages as kubectl does', () => {
  expect([0, 51, 119, 120, 252, 600, 9000, 11100, 90000, 200000, 4e6].map(formatAge)).toEqual(['0s', '51s', '119s', '2m', '4m12s', '10m', '150m', '3h5m', '25h', '2d7h', '46d'])
})

it('writes durations with three digits or so', () => {
  expect([0, 4e-7, 9e-6, 412e-6, 1.08e-3, 5.9e-3, 0.0312, 0.25, 1.2].map(formatDuration)).toEqual(['0 µs', '< 1 µs', '9 µs', '412 µs', '1.08 ms', '5.90 ms', '31.2 ms', '250 ms', '1.20 s'])
})
