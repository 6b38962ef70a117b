import { expect, it } from 'vitest'
import { nameParts } from './nameParts'

it.each([
  ['web-1', 'web-1', '', ''],
  ['web-6d9f7c8b5-x2x9z', 'web-6d9f7c8b5', '-x2x9z', ''],
  ['web-frontend-22', 'web-frontend', '-22', ''],
  ['openb-pod-1488', 'openb-pod', '-1488', ''],
  ['openb-node-0123', 'openb-node', '-0123', ''],
  ['db-shard-2-0', 'db-shard', '-2-0', ''],
  ['averylongnamewithoutseparators', 'averylongnamewithoutsepa', 'rators', ''],
  ['ip-10-0-1-23.eu-west-1.compute.internal', 'ip-10-0', '-1-23', '.eu-west-1.compute.internal'],
  ['node-1.example.com', '', 'node-1', '.example.com'],
  ['release.v1.2', 'release.v1', '.2', ''],
  ['frontend.web', 'frontend', '.web', ''],
  ['openb-pod-12', 'openb-pod', '-12', ''],
])('cuts %s so that what differs stays', (name, head, tail, domain) => {
  expect(head + (tail || '') + domain).toBe(name)
  expect(nameParts(name)).toEqual({ head, tail, domain })
})
