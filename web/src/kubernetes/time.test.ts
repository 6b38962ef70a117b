import { expect, it } from 'vitest'
import { formatAge, formatDuration } from './time'

it('writes ages as kubectl does', () => {
  expect([0, 51, 119, 120, 252, 600, 9000, 11100, 90000, 200000, 4e6].map(formatAge)).toEqual([
    '0s',
    '51s',
    '119s',
    '2m',
    '4m12s',
    '10m',
    '150m',
    '3h5m',
    '25h',
    '2d7h',
    '46d',
  ])
})

it('writes durations with three digits or so', () => {
  expect([0, 4e-7, 9e-6, 412e-6, 1.08e-3, 5.9e-3, 0.0312, 0.25, 1.2].map(formatDuration)).toEqual([
    '0 µs',
    '< 1 µs',
    '9 µs',
    '412 µs',
    '1.08 ms',
    '5.90 ms',
    '31.2 ms',
    '250 ms',
    '1.20 s',
  ])
})
