// The names of the scheduler's plugins, for finding them.

import { shallowRef } from 'vue'
import { request } from '@/api/http'

export const pluginNames = shallowRef<readonly string[]>([])

interface Effective {
  profiles?: { plugins?: { name: string }[]; extensionPoints?: { plugins?: { name: string }[] }[] }[]
}

/** Asks once more each time, since a new configuration may name others. Without an answer the names stay as they are. */
export async function loadPluginNames(): Promise<void> {
  try {
    const effective = await request<Effective>('/api/v1/schedulerconfiguration/effective')
    const names = new Set<string>()
    for (const profile of effective.profiles ?? []) {
      for (const { name } of profile.plugins ?? []) names.add(name)
      for (const point of profile.extensionPoints ?? []) for (const { name } of point.plugins ?? []) names.add(name)
    }
    pluginNames.value = [...names].sort()
  } catch {
    // The palette finds everything else.
  }
}
