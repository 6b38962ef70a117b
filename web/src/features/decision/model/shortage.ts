// How near a node is to fitting, as the server measures it (scheduler/result/shortage.go). The record
// has the amounts of the nearest nodes; the map shows all of them.

export interface Amounts {
  requested: number
  inUse: number
  allocatable: number
}

/** What a resource adds of which a node has none at all: more than any sum of shortages. */
const farAway = 2 ** 20

export const offersNone = (distance: number) => distance >= farAway

/**
 * Orders nodes by what the pod would have to give up there: by the resources that they have none of, then
 * by whether more than half of a request is missing, then by the missing parts.
 */
export function distance(all: Iterable<Amounts>): number {
  let [absent, half, parts] = [0, 0, 0]
  for (const { requested, inUse, allocatable } of all) {
    const part = (requested + inUse - allocatable) / requested
    if (requested <= 0 || part <= 1e-9) continue
    parts += part
    if (part > 0.5) half = 1
    if (allocatable <= 0) absent++
  }
  return absent * farAway + half + parts / (1 + parts)
}
