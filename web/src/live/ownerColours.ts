// The owners' colours, kept in this browser, so that they survive a reload and are the same in every tab.

import { OwnerColours } from '@/kubernetes/ownerColours'

const key = 'ownerColours'
/** Owners arrive by the hundred, so their colours are stored a moment later (ms). */
const wait = 1000

export function keptColours(): OwnerColours {
  let timer: ReturnType<typeof setTimeout> | undefined
  return new OwnerColours(stored(), (all) => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      try {
        localStorage.setItem(key, JSON.stringify([...all]))
      } catch {
        // Without storage, the colours last as long as the page.
      }
    }, wait)
  })
}

function stored(): [string, number][] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(value)
      ? value.filter(
          (one): one is [string, number] =>
            Array.isArray(one) && typeof one[0] === 'string' && typeof one[1] === 'number'
        )
      : []
  } catch {
    return []
  }
}
