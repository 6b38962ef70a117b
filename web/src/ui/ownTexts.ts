// Texts that the user saved under a name, stored in this browser and shared by all of its windows.

import { shallowRef, type ShallowRef } from 'vue'

export interface OwnText {
  name: string
  text: string
}

const nameAtMost = 60
/** The limit for all texts of a kind together, so that the page's storage does not run out. */
const charactersAtMost = 1_200_000

export const tidyName = (name: string) => name.trim().replace(/\s+/g, ' ').slice(0, nameAtMost)

/** Adds a text, sorted by name, replacing one with the same name. undefined when the limit is exceeded. */
export function withText(texts: readonly OwnText[], added: OwnText): OwnText[] | undefined {
  const next = [...withoutText(texts, added.name), added].sort((a, b) =>
    a.name.localeCompare(b.name, undefined, { numeric: true })
  )
  return next.reduce((sum, p) => sum + p.name.length + p.text.length, 0) > charactersAtMost ? undefined : next
}

export function withoutText(texts: readonly OwnText[], name: string): OwnText[] {
  return texts.filter((p) => p.name !== name)
}

/** Parses stored texts from JSON and drops invalid ones. */
export function readTexts(stored: string | null): OwnText[] {
  if (!stored) return []
  try {
    const value = JSON.parse(stored) as unknown
    if (!Array.isArray(value)) return []
    return value.flatMap((p: unknown) => {
      const { name, text } = (p ?? {}) as Partial<OwnText>
      return typeof name === 'string' && name && typeof text === 'string' ? [{ name, text }] : []
    })
  } catch {
    return []
  }
}

export interface OwnTexts {
  all: ShallowRef<readonly OwnText[]>
  /** These are false when the browser cannot store it; nothing changes then. */
  keep(text: OwnText): boolean
  drop(name: string): boolean
  rename(from: string, to: string): boolean
}

/** The texts below a key of the browser's storage. Called once for each key. */
export function ownTexts(storageKey: string): OwnTexts {
  const read = () => {
    try {
      return readTexts(localStorage.getItem(storageKey))
    } catch {
      return []
    }
  }
  const all = shallowRef<readonly OwnText[]>(read())
  window.addEventListener('storage', (event) => {
    if (event.key === storageKey || event.key === null) all.value = read()
  })
  function store(next: OwnText[] | undefined): boolean {
    if (!next) return false
    try {
      localStorage.setItem(storageKey, JSON.stringify(next))
    } catch {
      return false
    }
    all.value = next
    return true
  }
  return {
    all,
    keep: (text) => store(withText(read(), text)),
    drop: (name) => store(withoutText(read(), name)),
    rename(from, to) {
      const texts = read()
      const text = texts.find(({ name }) => name === from)?.text
      return text !== undefined && store(withText(withoutText(texts, from), { name: to, text }))
    },
  }
}
