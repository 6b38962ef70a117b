// What the user sets in the matrix goes into the draft's text. Until the server has read the text, the
// matrix shows what was set.

import { shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import { withPlugin, withWeight, type Dial } from './model/dial'
import { draft, write, type Check } from './store/configuration'

/** Weights, and whether plugins are on, by dialKey. */
export type Dialed = ReadonlyMap<string, number | boolean>

export const dialKey = ({ profile = '', point, plugin }: Dial) => `${profile}/${point}/${plugin}`

/** `changed` is called after each change of the text. */
export function useDial(check: Ref<Check>, changed: () => void): { dialed: ShallowRef<Dialed>; dial: DialTo } {
  const dialed = shallowRef<Dialed>(new Map())
  watch(check, ({ kind }) => {
    if (kind !== 'checking' && kind !== 'unknown') dialed.value = new Map()
  })
  return {
    dialed,
    dial(what, to) {
      const before = draft.value?.text
      if (before === undefined) return
      write(typeof to === 'number' ? withWeight(before, what, to) : withPlugin(before, what, to))
      if (draft.value?.text === before) return
      dialed.value = new Map(dialed.value).set(dialKey(what), to)
      changed()
    },
  }
}

export type DialTo = (what: Dial, to: number | boolean) => void
