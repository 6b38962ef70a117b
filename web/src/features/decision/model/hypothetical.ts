// A hypothetical Filter matrix beside the one that it is compared with: in the hypothetical
// one every plugin ran for every node, so a row may have several rejections.

import type { FilterMatrix } from './matrix'

export interface AskedMatrix {
  /** The number of plugins that reject the node, by row. */
  inTheWay: Uint8Array
  /** By plugin: the nodes that it rejects first, and all that it rejects. */
  first: number[]
  all: number[]
  /** By plugin: what `all` is without the hypothesis; undefined where that is unknown. */
  before: (number | undefined)[]
  /** 1 where the hypothesis changes the result of a plugin: changed[row * plugins + column]. */
  changed: Uint8Array
  /**
   * 1 for cells that did not run in the recorded attempt, because an earlier plugin had rejected
   * the node.
   */
  onlyAsked: Uint8Array
  /** Nodes that one plugin alone keeps the pod from. */
  byOneAlone: number
}

/** `without` is the same question without the hypothesis; `recorded` the attempt that took place. */
export function askedMatrix(
  matrix: FilterMatrix,
  { without, recorded }: { without?: FilterMatrix | undefined; recorded?: FilterMatrix | undefined }
): AskedMatrix {
  const columns = matrix.plugins.length
  const out: AskedMatrix = {
    inTheWay: new Uint8Array(matrix.nodes.length),
    first: matrix.plugins.map(() => 0),
    all: matrix.plugins.map(() => 0),
    before: matrix.plugins.map((plugin) => without && rejectionsBy(without, plugin)),
    changed: new Uint8Array(matrix.nodes.length * columns),
    onlyAsked: new Uint8Array(matrix.nodes.length * columns),
    byOneAlone: 0,
  }
  const lettersBefore = lettersLike(matrix, without)
  const lettersRecorded = lettersLike(matrix, recorded)
  matrix.states.forEach((letters, row) => {
    let rejections = 0
    for (let p = 0; p < columns; p++) {
      if (letters[p] === 'R') {
        if (!rejections) out.first[p] = (out.first[p] ?? 0) + 1
        out.all[p] = (out.all[p] ?? 0) + 1
        rejections++
      }
      const before = lettersBefore(row, p)
      if (before !== undefined && before !== letters[p]) out.changed[row * columns + p] = 1
      if (lettersRecorded(row, p) === 'N') out.onlyAsked[row * columns + p] = 1
    }
    out.inTheWay[row] = rejections
    if (rejections === 1) out.byOneAlone++
  })
  return out
}

function rejectionsBy({ plugins, states }: FilterMatrix, plugin: string): number | undefined {
  const column = plugins.indexOf(plugin)
  if (column < 0) return undefined
  return states.reduce((n, letters) => n + Number(letters[column] === 'R'), 0)
}

/** The letters of another matrix at the places of this one, whose nodes and plugins may be others. */
function lettersLike(
  matrix: FilterMatrix,
  other: FilterMatrix | undefined
): (row: number, column: number) => string | undefined {
  if (!other) return () => undefined
  const rows = new Map(other.nodes.map((node, row) => [node, row]))
  const columns = matrix.plugins.map((plugin) => other.plugins.indexOf(plugin))
  return (row, column) => {
    const at = rows.get(matrix.nodes[row] ?? '')
    const there = columns[column] ?? -1
    return at === undefined || there < 0 ? undefined : other.states[at]?.[there]
  }
}

/** The plugins that reject a node, in their order. */
export function rejectersAt(matrix: FilterMatrix, row: number): string[] {
  const letters = matrix.states[row] ?? ''
  return matrix.plugins.filter((_, p) => letters[p] === 'R')
}
