// The names of the scheduler's plugins, for finding them.

import { shallowRef } from 'vue'
import { getEffective } from '@/api/configuration'

export const pluginNames = shallowRef<readonly string[]>([])

/** Asks once more each time, since a new configuration may name others. Without an answer the names stay as they are. */
export async function loadPluginNames(): Promise<void> {
  try {
    const { profiles } = await getEffective()
    const names = new Set<string>()
    for (const profile of profiles) {
      for (const { name } of profile.plugins ?? []) names.add(name)
      for (const point of profile.extensionPoints ?? []) for (const { name } of point.plugins ?? []) names.add(name)
    }
    pluginNames.value = [...names].sort()
  } catch {
    // The palette finds everything else.
  }
}
