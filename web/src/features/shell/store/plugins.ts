// The names of the scheduler's plugins, for the command palette.

import { shallowRef } from 'vue'
import { getEffective } from '@/api/configuration'

export const pluginNames = shallowRef<readonly string[]>([])

/**
 * Requests the names again each time, because a new configuration may have other plugins. If that
 * fails, the earlier names stay.
 */
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
    // The palette also works without plugins.
  }
}
