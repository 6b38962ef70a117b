import { flushPromises } from '@vue/test-utils'
import { expect, it } from 'vitest'
import { shallowRef } from 'vue'
import * as simulator from '@/api/simulator'
import type { Summary } from '@/api/types'
import { mockFunctions, withSetup } from '@/ui/testing'
import { sampleCycle } from '../model/testing'
import { useCycle } from './cycles'

const server = mockFunctions(simulator)

it('fetches an attempt again when it is published again with more facts', async () => {
  server.getCycle.mockImplementation(() => Promise.resolve(sampleCycle({ attempt: 7 })))
  const wanted = shallowRef<Summary | undefined>(sampleCycle({ attempt: 7 }))
  const page = await withSetup(() => useCycle(wanted), { at: '/', routes: [{ path: '/', name: 'decision' }] })
  await flushPromises()
  wanted.value = sampleCycle({ attempt: 7 })
  await flushPromises()
  expect(server.getCycle).toHaveBeenCalledTimes(1)
  wanted.value = sampleCycle({ attempt: 7, updates: 1 })
  await flushPromises()
  expect(server.getCycle).toHaveBeenCalledTimes(2)
  page.unmount()
})
