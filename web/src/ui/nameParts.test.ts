import { expect, it } from 'vitest'
import { nameParts } from './nameParts'

it.each([
  ['web-1', 'web-1', ''],
  ['web-6d9f7c8b5-x2x9z', 'web-6d9f7c8b5', '-x2x9z'],
  ['web-frontend-22', 'web-frontend', '-22'],
  ['openb-node-0123', 'openb-node', '-0123'],
  ['averylongnamewithoutseparators', 'averylongnamewithoutsepa', 'rators'],
])('cuts %s so that its end stays', (name, head, tail) => {
  expect(nameParts(name).head + nameParts(name).tail).toBe(name)
  expect(nameParts(name)).toEqual({ head, tail })
})
