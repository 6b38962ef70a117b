import { expect, it } from 'vitest'
import { pod } from '@/kubernetes/testing'
import { chipText } from './chips'

const owned = (name: string, kind: string, owner: string, labels = {}) =>
  pod(name, {}, {}, { labels, ownerReferences: [{ kind, name: owner, controller: true }] })

it.each([
  [
    'a pod of a Deployment',
    owned('checkout-6d9f7c8b5-x2x9z', 'ReplicaSet', 'checkout-6d9f7c8b5', { 'pod-template-hash': '6d9f7c8b5' }),
    '…x2x9z',
  ],
  ['a pod of a StatefulSet', owned('elasticsearch-data-0', 'StatefulSet', 'elasticsearch-data'), '…0'],
  ['a short name', owned('db-0', 'StatefulSet', 'db'), 'db-0'],
  ['a bare pod', pod('openb-pod-0001'), 'openb-pod-0001'],
])('of %s is what tells it apart', (_, of, text) => expect(chipText(of)).toBe(text))
