// The user's presets, stored in this browser and shared by all of its windows.

import { shallowRef, type ShallowRef } from 'vue'
import { readPresets, withoutPreset, withPreset, type OwnPreset } from '../model/ownPresets'

const storageKey = 'configurationPresets'

function read(): OwnPreset[] {
  try {
    return readPresets(localStorage.getItem(storageKey))
  } catch {
    return []
  }
}

export const ownPresets: ShallowRef<readonly OwnPreset[]> = shallowRef(read())
window.addEventListener('storage', (event) => {
  if (event.key === storageKey || event.key === null) ownPresets.value = read()
})

/** False when the browser cannot store it; nothing changes then. */
export function keepPreset(preset: OwnPreset): boolean {
  const next = withPreset(read(), preset)
  return !!next && store(next)
}

export function dropPreset(name: string): boolean {
  return store(withoutPreset(read(), name))
}

function store(next: OwnPreset[]): boolean {
  try {
    localStorage.setItem(storageKey, JSON.stringify(next))
  } catch {
    return false
  }
  ownPresets.value = next
  return true
}
