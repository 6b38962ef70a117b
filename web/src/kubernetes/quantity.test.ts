import { describe, expect, it } from 'vitest'
import { formatAmount, formatPair, parseQuantity } from './quantity'

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
  it('is 0 for an absent quantity', () => {
    expect(parseQuantity(undefined)).toBeNaN()
  })
})

it('formats amounts in their usual units', () => {
  expect(formatAmount(1.5, 'cpu')).toBe('1.5')
  expect(formatAmount(3 * 2 ** 30, 'bytes')).toBe('3 Gi')
  expect(formatAmount(512 * 2 ** 20, 'bytes')).toBe('512 Mi')
  expect(formatPair(16 * 2 ** 30, 64 * 2 ** 30, 'bytes')).toEqual({ used: '16', allocatable: '64', unit: 'Gi' })
  expect(formatPair(7.7, 16, 'cpu')).toEqual({ used: '7.7', allocatable: '16', unit: '' })
  expect(formatPair(909_720, 6_212_000, 'count')).toEqual({ used: '909,720', allocatable: '6,212,000', unit: '' })
  expect([formatAmount(1234.567, 'cpu'), formatAmount(-0.0001, 'cpu')]).toEqual(['1,234.567', '0'])
})
