// The colours of owners. An owner keeps its colour for good: what changes colour looks like something else.

/** The number of category colours. */
const colourCount = 9
/** The owners that are remembered, also after their last pod is gone. */
const rememberAtMost = 1000

/**
 * Gives each owner a colour when it is first seen: the one that its name suggests, or else
 * the least used one. The first nine owners so get different colours.
 */
export class OwnerColours {
  private readonly colours: Map<string, number>
  private readonly used = new Array<number>(colourCount + 1).fill(0)

  /** `known` are colours of an earlier page; `changed` is called with all colours after each new one. */
  constructor(
    known: Iterable<readonly [string, number]> = [],
    private readonly changed: (all: ReadonlyMap<string, number>) => void = () => {}
  ) {
    this.colours = new Map(
      [...known].filter(([, colour]) => Number.isInteger(colour) && colour >= 1 && colour <= colourCount)
    )
    for (const colour of this.colours.values()) this.count(colour, 1)
  }

  /** From 1 to 9. */
  of(owner: string): number {
    const known = this.colours.get(owner)
    if (known !== undefined) return known
    const colour = this.next(owner)
    this.colours.set(owner, colour)
    this.count(colour, 1)
    for (const [old, its] of this.colours) {
      if (this.colours.size <= rememberAtMost) break
      this.colours.delete(old)
      this.count(its, -1)
    }
    this.changed(this.colours)
    return colour
  }

  private next(owner: string): number {
    const first = hash(owner) % colourCount
    let best = 0
    for (let i = 0; i < colourCount; i++) {
      const colour = ((first + i) % colourCount) + 1
      if (!best || this.uses(colour) < this.uses(best)) best = colour
    }
    return best
  }

  private uses(colour: number): number {
    return this.used[colour] ?? 0
  }

  private count(colour: number, by: 1 | -1): void {
    this.used[colour] = this.uses(colour) + by
  }
}

function hash(text: string): number {
  let h = 2166136261
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619)
  return h >>> 0
}
