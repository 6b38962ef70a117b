import { expect, it, vi } from 'vitest'
import { shallowRef } from 'vue'
import * as configuration from '@/live/configurationInForce'
import { mockFunctions, withSetup } from '@/ui/testing'
import { sampleCycle } from './model/testing'
import { useQueueSort } from './useQueueSort'

mockFunctions(configuration)

it('the QueueSort plugin is known only while the configuration of the cycle is running', async () => {
  const effective = {
    revision: 4,
    profiles: [
      {
        schedulerName: 'default-scheduler',
        extensionPoints: [{ name: 'queueSort', plugins: [{ name: 'PrioritySort' }] }],
      },
    ],
  }
  const read = {
    value: shallowRef(effective),
    error: shallowRef(),
    reload: vi.fn(),
    stop: vi.fn(),
  } as unknown as ReturnType<typeof configuration.readEffective>
  vi.mocked(configuration.readEffective).mockReturnValue(read)
  const sortOf = async (revision: number) =>
    (await withSetup(() => useQueueSort(shallowRef(sampleCycle({ revision }))))).value.value
  expect(await sortOf(4)).toBe('PrioritySort')
  expect(await sortOf(3)).toBeUndefined()
})
