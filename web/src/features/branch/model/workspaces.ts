// How workspaces are shown: the simulator itself, and its branches.

import type { Branch } from '@/api/branches'

/** What people call it. */
export const titleOf = ({ name, title }: Pick<Branch, 'name' | 'title'>): string => title || name

/** The icon of what a workspace is for. */
export const iconOf = ({ purpose }: Pick<Branch, 'purpose'>): string =>
  ({ branch: 'branch', lesson: 'learn', preset: 'flask', import: 'upload', replay: 'history' })[purpose]

/** A colour of its own, as long as there are few; the simulator's own is var(--c1). */
export const colourOf = (name: string, all: readonly Pick<Branch, 'name'>[]): string =>
  name ? `var(--c${((all.findIndex((one) => one.name === name) + 3) % 9) + 1})` : 'var(--c1)'

/** The newest first, which is where a new one is looked for. */
export const inOrder = (all: readonly Branch[]): Branch[] =>
  [...all].sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1))

/** Those that the words match, in their title, name or lesson. */
export function matching(all: readonly Branch[], words: string): Branch[] {
  const wanted = words.toLowerCase().split(/\s+/)
  return all.filter(({ title = '', name, lesson = '' }) => {
    const text = `${title} ${name} ${lesson}`.toLowerCase()
    return wanted.every((word) => text.includes(word))
  })
}
