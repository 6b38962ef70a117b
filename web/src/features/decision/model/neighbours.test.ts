import { expect, it } from 'vitest'
import type { Summary } from '@/api/types'
import { neighbours } from './neighbours'
import { sampleCycle } from './testing'

const decision = (uid: string, attempt = 1): Summary =>
  sampleCycle({ pod: { namespace: 'shop', name: `web-${uid}`, uid }, attempt })
const names = ({ before, after }: ReturnType<typeof neighbours>) =>
  [before, after].map((s) => s && `${s.pod.uid}/${s.attempt}`)

it('finds the pod before, and the pod that was first tried after', () => {
  const of = decision('b')
  expect(
    names(
      neighbours(
        of,
        [decision('a', 2), decision('a', 1)],
        [decision('d'), decision('c', 2), decision('b', 2), decision('c', 1), decision('b')]
      )
    )
  ).toEqual(['a/2', 'c/2'])
})
it('does not take a pod that was tried before for a replacement', () => {
  expect(names(neighbours(decision('b'), [decision('a')], [decision('c'), decision('a', 2)]))).toEqual(['a/1', 'c/1'])
})
it('finds none where there is none', () => {
  expect(names(neighbours(decision('b'), [], [decision('b', 2), decision('b')]))).toEqual([undefined, undefined])
})
