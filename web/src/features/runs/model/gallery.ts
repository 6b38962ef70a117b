// The scenarios that come with the application. A Go test runs them, and checks how they end.

import shipped from './gallery/gallery.json'

export const cardNames = [
  'zones-stay-balanced',
  'a-node-fails',
  'priority-preempts',
  'spread-or-pack',
  'a-queue-builds-up',
] as const
export type CardName = (typeof cardNames)[number]

const texts: Record<string, string> = import.meta.glob('./gallery/*.yaml', {
  query: '?raw',
  import: 'default',
  eager: true,
})

export const galleryText = (name: CardName): string => texts[`./gallery/${name}.yaml`] ?? ''

export const cards = cardNames.map((name) => {
  const card = shipped.find((one) => one.name === name)
  return { name, text: galleryText(name), steps: card?.steps ?? 0, fails: card?.outcome === 'failed' }
})

/** The name in a scenario's metadata, to suggest it; '' if it is not where people write it. */
export const nameIn = (text: string): string =>
  /^metadata:\s*\{\s*name:\s*([\w.-]+)|^metadata:\s*\n\s+name:\s*([\w.-]+)/m.exec(text)?.slice(1).find(Boolean) ?? ''
