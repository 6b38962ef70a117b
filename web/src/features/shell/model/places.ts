// The navigation: five places, each a question, with the views that answer it.

/** The views of each place, by the names of their routes. A place opens with its first view. */
export const places = {
  cluster: ['cluster', 'resources', 'numa', 'autoscaling', 'drain'],
  why: ['why', 'decisions', 'batch', 'compare'],
  whatIf: ['whatIf', 'capacity', 'scheduler', 'upgrade', 'scenarios'],
  past: ['timeline', 'events', 'replay', 'import'],
  learn: ['learn', 'predict', 'glossary'],
} as const
export type PlaceName = keyof typeof places
export type View = (typeof places)[PlaceName][number]

export const placeNames = Object.keys(places) as PlaceName[]
export const views = placeNames.flatMap((place): readonly View[] => places[place])

/** The place of a route's view; undefined for a page beside the places. */
export function placeOf(view: unknown): PlaceName | undefined {
  return placeNames.find((place) => (places[place] as readonly unknown[]).includes(view))
}
